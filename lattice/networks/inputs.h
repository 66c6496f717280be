// SPDX-License-Identifier: Apache-2.0

// What a network is built for: the columns of the training data, the tasks, the domains and which
// of them share weights. It comes from the data set and the partition, not from the options of a
// network, and knows no tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::lattice {

struct CategoricalInput {
  std::string name;
  int64_t table_rows = 0;  // ids of the data are below it; 0 is padding
};

struct DenseGroup {
  std::string name;
  std::vector<int64_t> columns;  // of the dense block
};

struct SequenceColumn {
  std::string name;
  size_t table = 0;  // index of the categorical column whose table it shares
};

struct SequenceInput {
  std::vector<SequenceColumn> columns;  // none: the data has no sequence
  int64_t length = 50;                  // at most
};

struct TaskInput {
  std::string name;
  size_t label = 0;  // its column of the labels
  // The rate of positives of the training data in each window, shortest first. One entry: the task
  // has no delay, and every row trains it.
  std::vector<double> base_rate = {0.5};

  int64_t windows() const { return static_cast<int64_t>(base_rate.size()); }
};

struct DomainInput {
  std::string name;
  int64_t group = 0;  // domains of one group share untied weights
  // By task: whether rows of the domain train and are scored for it. Empty: all.
  std::vector<bool> owns;
};

// What a student has of its teacher.
struct TeacherInput {
  int64_t width = 0;  // of the teacher's embedding, which becomes one more token; 0: none
  std::vector<size_t> distilled;  // tasks that have a distillation head beside the served one
  double gradient_scale = 1;      // of what those heads send back into the backbone
};

struct NetworkInputs {
  std::vector<CategoricalInput> categorical;
  int64_t dense_columns = 0;
  std::vector<DenseGroup> dense_groups;
  SequenceInput sequence;
  std::vector<TaskInput> tasks;
  std::vector<DomainInput> domains = {{"all"}};
  TeacherInput teacher;

  int64_t groups() const;  // of domains: the largest number and one
  bool owns(size_t domain, size_t task) const {
    return domains[domain].owns.empty() || domains[domain].owns[task];
  }
};

}  // namespace weft::lattice
