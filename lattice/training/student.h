// SPDX-License-Identifier: Apache-2.0

// A training's teacher: the map "teacher" under "train", what a model of it uses, and the source
// that brings the teacher's columns along with the rows.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/distillation/student_view.h"
#include "lattice/learning/learner.h"
#include "lattice/objectives/distillation.h"
#include "lattice/schema/fields.h"
#include "lattice/training/batch_source.h"

namespace weft::lattice {

// Of one model: the teacher's label as a second loss, its embedding as an input, or both.
enum class TeacherUse : uint8_t { None, Labels, Embeddings, Both };
Result<Done> read_teacher_use(Fields& fields, TeacherUse& use);
const char* word_of(TeacherUse use);
inline bool uses_labels(TeacherUse use) {
  return use == TeacherUse::Labels || use == TeacherUse::Both;
}
inline bool uses_embeddings(TeacherUse use) {
  return use == TeacherUse::Embeddings || use == TeacherUse::Both;
}

struct StudentConfiguration {
  std::string store;  // its address (open_store.h); empty: there is no teacher
  StudentViewOptions view;
  DistillationOptions loss;
  double gradient_scale = 1;
};
Result<StudentConfiguration> read_student(const YamlDocument& document, const YamlNode& node,
                                          const std::string& base);
Json to_json(const StudentConfiguration& student);
// What a training's summary keeps, so that evaluation and serving ask as the training did.
StudentConfiguration student_from_json(const Json& json);

// For a learner with these tasks. A task that the teacher lacks is an error where labels are used.
Result<StudentShape> student_shape(TeacherUse use, const StudentConfiguration& student,
                                   const TeacherDescription& teacher,
                                   const std::vector<std::string>& tasks);
Json to_json(const StudentShape& shape);
StudentShape shape_from_json(const Json& json);

// Opens the store and checks that it is this student's teacher's.
Result<StudentView> open_view(const StudentConfiguration& student, const ShardIndex& schema);

// Rows of another source with the teacher's columns. Both must outlive it.
class TaughtSource : public BatchSource {
 public:
  TaughtSource(const BatchSource& inner, StudentView& view) : inner_(&inner), view_(&view) {}
  uint64_t rows() const override { return inner_->rows(); }
  // A store that cannot answer ends the pass; failure() says why.
  Batches pass(const ReaderOptions& options) const override;
  Result<Done> failure() const { return failure_ == nullptr ? Result<Done>(Done{}) : *failure_; }

 private:
  const BatchSource* inner_;
  StudentView* view_;
  mutable std::unique_ptr<Error> failure_;
};

}  // namespace weft::lattice
