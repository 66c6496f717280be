// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/student.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "lattice/distillation/open_store.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kUses = {"none", "labels", "embeddings", "both"};

}  // namespace

const char* word_of(TeacherUse use) {
  return kUses[static_cast<size_t>(use)].c_str();
}

Result<Done> read_teacher_use(Fields& fields, TeacherUse& use) {
  return fields.read_word("teacher", use, kUses);
}

Result<StudentConfiguration> read_student(const YamlDocument& document, const YamlNode& node,
                                          const std::string& base) {
  StudentConfiguration c;
  Fields fields = TRY(Fields::open(document, node, "teacher"));
  TRY(fields.required("store"));
  TRY(fields.read("store", c.store));
  if (c.store.find("://") == std::string::npos)
    c.store = (std::filesystem::path(base) / c.store).lexically_normal().string();
  TRY(fields.read("user", c.view.user));
  TRY(fields.read("item", c.view.item));
  TRY(fields.read("version", c.view.version));
  TRY(fields.read("clip", c.view.clip, 0, 1e6));
  TRY(fields.read("weight", c.loss.weight, 0, 1e6));
  TRY(fields.read("label_scale", c.loss.label_scale, 0, 1e6));
  TRY(fields.read("smoothing", c.loss.smoothing, 0, 1));
  TRY(fields.read("adapter", c.loss.adapter));
  TRY(fields.read("gradient_scale", c.gradient_scale, 0, 1e6));
  TRY(fields.finish());
  return c;
}

Json to_json(const StudentConfiguration& c) {
  if (c.store.empty()) return nullptr;
  return {{"store", c.store},
          {"user", c.view.user},
          {"item", c.view.item},
          {"version", c.view.version},
          {"clip", c.view.clip},
          {"weight", c.loss.weight},
          {"label_scale", c.loss.label_scale},
          {"smoothing", c.loss.smoothing},
          {"adapter", c.loss.adapter},
          {"gradient_scale", c.gradient_scale}};
}

StudentConfiguration student_from_json(const Json& json) {
  StudentConfiguration c;
  if (json.is_null()) return c;
  c.store = json["store"];
  c.view = {.user = json["user"],
            .item = json["item"],
            .clip = json["clip"],
            .version = json["version"],
            .width = json["width"]};
  return c;
}

Result<StudentShape> student_shape(TeacherUse use, const StudentConfiguration& student,
                                   const TeacherDescription& teacher,
                                   const std::vector<std::string>& tasks) {
  StudentShape shape;
  if (uses_embeddings(use)) shape.width = teacher.width;
  if (!uses_labels(use)) return shape;
  shape.gradient_scale = student.gradient_scale;
  shape.adapter = student.loss.adapter;
  for (size_t j = 0; j < tasks.size(); ++j) {
    const size_t column = TRY(task_of(teacher, tasks[j]));
    shape.distilled.push_back({j, column});
  }
  return shape;
}

Json to_json(const StudentShape& shape) {
  Json distilled = Json::array();
  for (const auto& [task, column] : shape.distilled) distilled.push_back({task, column});
  return {{"width", shape.width},
          {"distilled", distilled},
          {"gradient_scale", shape.gradient_scale},
          {"adapter", shape.adapter}};
}

StudentShape shape_from_json(const Json& json) {
  if (json.is_null()) return {};
  StudentShape shape{.width = json["width"],
                     .distilled = {},
                     .gradient_scale = json["gradient_scale"],
                     .adapter = json["adapter"]};
  for (const Json& one : json["distilled"])
    shape.distilled.push_back({one[0].get<size_t>(), one[1].get<size_t>()});
  return shape;
}

Result<StudentView> open_view(const StudentConfiguration& student, const ShardIndex& schema) {
  std::shared_ptr<TeacherStore> store = TRY(open_store(student.store, Access::ReadOnly));
  return StudentView::create(std::move(store), schema, student.view);
}

Batches TaughtSource::pass(const ReaderOptions& options) const {
  return [this, next = inner_->pass(options)](Batch& batch) {
    if (failure_ != nullptr || !next(batch)) return false;
    const Result<Done> attached = view_->attach(batch);
    if (attached.ok()) return true;
    failure_ = std::make_unique<Error>(attached.error());
    return false;
  };
}

}  // namespace weft::lattice
