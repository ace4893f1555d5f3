#include "sources/split_settings.h"

namespace tpack {

FieldType Codec<std::vector<PartShare>>::type() {
  return FieldType::either({FieldType::map_of(FieldType::number(), "shares by part"), FieldType::number()},
                           "shares from 0 to 1 by part, or only the share of validation");
}

std::optional<std::vector<PartShare>> Codec<std::vector<PartShare>>::parse(const ConfigNode& node,
                                                                           Reader& reader) {
  if (!node.is_map() && !node.is_number()) {
    reader.wrong_type(node, "shares by part, such as {validation: 0.2}");
    return std::nullopt;
  }
  const ConfigNode map =
      node.is_map() ? node : ConfigNode::map({{kFoldPart, node, node.position()}}, node.position());
  const size_t before = reader.errors().count();
  std::vector<PartShare> shares;
  double sum = 0;
  for (const auto& [part, share, position] : map.entries()) {
    if (part == kTrainPart) {
      reader.fail(share, "train gets all samples of no other part; remove it");
    } else if (!share.is_number() || !(share.as_double() > 0 && share.as_double() < 1)) {
      reader.wrong_type(share, "a share between 0 and 1");
    } else {
      sum += share.as_double();
      shares.push_back({part, share.as_double(), position});
    }
  }
  if (sum >= 1) reader.fail(node, "the shares leave nothing for train; their sum must be below 1");
  return reader.errors().count() == before ? std::optional(std::move(shares)) : std::nullopt;
}

ConfigNode Codec<std::vector<PartShare>>::dump(const std::vector<PartShare>& shares) {
  std::vector<ConfigNode::Entry> entries;
  for (const PartShare& one : shares) entries.push_back({one.part, one.share});
  return ConfigNode::map(std::move(entries));
}

Schema<SplitSettings> split_settings_schema() {
  using S = SplitSettings;
  return Schema<S>(
             "Divides one source of samples into parts. Parts are disjoint, cover all samples, and are the "
             "same on any machine.")
      .field("shares", &S::shares,
             "share of the data in each part: {validation: 0.15, test: 0.15}, or one number for validation; "
             "train has the rest; default: 0.2 without folds")
      .shorthand()
      .field("folds", &S::folds, between(0, 1000),
             "number of equal folds of the data that is not in `shares`: one fold is validation, the others "
             "train; 0: no folds")
      .field("fold", &S::fold, at_least(0), "number of the validation fold, from 0")
      .field("seed", &S::seed, at_least(0), "seed for the assignment to parts")
      .field("stratify", &S::stratify,
             "component whose classes get the same shares in all parts, or none; default: the component of "
             "classes, if there is only one")
      .field("group", &S::group,
             "column of a table, such as a patient or a user: rows with the same value stay in one part")
      .field("order", &S::order,
             "column of numbers, dates or times (2020-04-03 9:00): train gets the first rows, the last part "
             "the last rows; `rows`: the order of the file")
      .field("column", &S::column, "column with the part of each row; replaces shares")
      .field("hash", &S::hash,
             "true: compute the part from the file name or the value of `group`, so that samples stay in "
             "their part when others are added; shares are then approximate");
}

}  // namespace tpack
