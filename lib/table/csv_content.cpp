#include "table/csv_content.h"

#include "core/text.h"
#include "table/csv.h"

namespace tpack {

std::unique_ptr<CsvContent> CsvContent::part(size_t rows) const {
  auto part = std::make_unique<CsvContent>();
  for (const auto& some : values) part->values.push_back(some->part(rows));
  for (const CsvLabels& some : labels) part->labels.push_back(some.part());
  part->label_columns = label_columns;
  part->missing = missing;
  part->reader = reader.part();
  part->lines.reserve(rows);
  return part;
}

void CsvContent::append(CsvContent& part, CsvRows::PlaceOfPart place) {
  while (first_rows.size() <= place.file) first_rows.push_back(rows());
  for (auto& [row, why] : part.bad) bad.emplace_hint(bad.end(), rows() + row, std::move(why));
  for (size_t i = 0; i < values.size(); ++i) values[i]->append(*part.values[i]);
  for (size_t i = 0; i < labels.size(); ++i) labels[i].append(part.labels[i]);
  reader.append(part.reader);
  for (const int64_t line : part.lines) lines.push_back(place.lines_before + line);
}

void CsvContent::add(const CsvRow& row) {
  std::string why = row.why;
  try {
    for (size_t i = 0; i < values.size() && why.empty(); ++i) values[i]->add(row.fields, reader);
  } catch (const BadField& field) {
    why = field.why;
  }
  for (size_t i = 0; i < values.size() && !why.empty(); ++i) values[i]->fill_bad(rows());
  for (size_t i = 0; i < labels.size() && why.empty(); ++i)
    why = labels[i].complaint_of(label_in(row.fields, i), label_columns[i]);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (why.empty())
      labels[i].add(label_in(row.fields, i));
    else
      labels[i].add_bad();
  }
  if (!why.empty()) bad.emplace_hint(bad.end(), rows(), std::move(why));
  lines.push_back(row.line);
}

/// The field, or the class from `missing` if it is missing.
std::string_view CsvContent::label_in(const std::vector<std::string_view>& fields, size_t label) const {
  const std::string_view field = trim(fields[labels[label].column()]);
  const MissingRule* rule = is_missing_in_csv(field) ? missing->named(label_columns[label]) : nullptr;
  return rule != nullptr && rule->by == MissingRule::By::kText ? std::string_view(rule->text) : field;
}

}  // namespace tpack
