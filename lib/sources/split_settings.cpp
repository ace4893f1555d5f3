#include "sources/split_settings.h"

namespace tpack {

FieldType Codec<std::vector<PartShare>>::type() {
  return FieldType::either({FieldType::map_of(FieldType::number(), "shares by part"), FieldType::number()},
                           "shares from 0 to 1 by part, or the share of validation");
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
      reader.fail(share, "train has what the other parts leave; remove it");
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
             "How one source of samples is divided into parts: which are disjoint, have all samples, and "
             "are the same on any machine.")
      .field("shares", &S::shares,
             "how much of the data each part has: {validation: 0.15, test: 0.15}, or a number for that of "
             "validation; train has the rest; default: 0.2 without folds")
      .shorthand()
      .field("folds", &S::folds, between(0, 1000),
             "number of equal folds of what `shares` leaves: validation is one of them, train the others; 0: "
             "none")
      .field("fold", &S::fold, at_least(0), "the fold that is validation, from 0")
      .field("seed", &S::seed, at_least(0), "another seed gives other parts")
      .field("stratify", &S::stratify,
             "component whose classes have the same shares in all parts; none; default: the component of "
             "classes, if there is one only")
      .field("group", &S::group,
             "column of a table: rows with the same value are in one part (a patient, a user)")
      .field("order", &S::order,
             "column of numbers, dates or times (2020-04-03 9:00): train has the first rows, the last part "
             "the last; "
             "`rows`: in the order of the file")
      .field("column", &S::column, "column that has the name of the part of each row; instead of shares")
      .field("hash", &S::hash,
             "true: the part follows from the file's name or from the value of `group`, so that samples stay "
             "in their part when others are added; parts have about their shares");
}

}  // namespace tpack
