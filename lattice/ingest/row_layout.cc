// SPDX-License-Identifier: Apache-2.0

#include "lattice/ingest/row_layout.h"

#include <utility>

namespace weft::lattice {

RowLayout row_layout(const DataConfiguration& c) {
  RowLayout layout;
  const auto add = [&](Field field) { layout.fields.push_back(std::move(field)); };
  if (!c.id.empty()) {
    layout.id = layout.fields.size();
    add({.name = c.id, .type = FieldType::Id});
  }
  if (!c.time.empty()) {
    layout.time = layout.fields.size();
    add({.name = c.time, .type = FieldType::Time, .unit = c.unit, .assume_utc = c.assume_utc});
  }
  if (!c.domain.empty()) {
    layout.domain = layout.fields.size();
    add({.name = c.domain});
  }
  layout.categorical = layout.fields.size();
  for (const CategoricalColumn& column : c.categorical)
    add({.name = column.name, .presence = Presence::Optional});
  layout.dense = layout.fields.size();
  for (const DenseColumn& column : c.dense)
    add({.name = column.name, .type = FieldType::Real, .presence = Presence::Optional});
  layout.labels = layout.fields.size();
  for (const LabelColumn& column : c.labels)
    add({.name = column.name,
         .type = column.positive.empty() ? FieldType::Share : FieldType::Text,
         .presence = Presence::Optional});
  if (!c.zip_labels.empty()) {
    layout.window = layout.fields.size();
    layout.zip_labels = layout.window + 1;
  }
  return layout;
}

}  // namespace weft::lattice
