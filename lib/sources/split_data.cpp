#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/count_classes.h"
#include "dataflow/fitted_data.h"
#include "dataflow/source.h"
#include "sources/split_parts.h"
#include "sources/split_settings.h"
#include "system/log.h"

namespace tpack {
namespace {

struct SplitDataParams : SplitSettings {
  Part<Source> source;
  std::string part;
};

constexpr const char* kNoStrata = "none";
constexpr const char* kOrderOfRows = "rows";

/// The samples of one part, in the order of the inner source and with its random numbers.
class SplitData final : public RandomAccessSource,
                        public SourceFiles,
                        public LearnedValues,
                        public SampleFacts,
                        public TableRows,
                        public DerivedSamples,
                        public WrappingSource {
 public:
  using Params = SplitDataParams;
  static Schema<Params> schema() {
    return split_settings_schema()
        .as<Params>(
            "One part of the samples of another source. Parts are disjoint, cover all samples, and are the "
            "same on any machine. The section `split` of a config applies it to all flows.")
        .example(
            "SplitData: {source: {CSV: {file: iris.csv, columns: {x: [\"sepal_.*\"]}, labels: {label: "
            "species}}}, part: validation, shares: {validation: 0.2}}")
        .field("source", &Params::source, "the source of all samples; it must be readable in any order")
        .required()
        .field("part", &Params::part, "train, or a part defined by `shares` or `folds`")
        .required();
  }
  explicit SplitData(Params p)
      : p_(std::move(p)),
        // It was made only for this source.
        inner_(std::dynamic_pointer_cast<RandomAccessSource>(
            std::const_pointer_cast<Source>(p_.source.object))) {
    if (inner_ == nullptr)
      throw ConfigError(
          "SplitData: only a source that reads its samples in any order can be divided, such as "
          "CSV, ImageFolder and Npz; a flow that a server serves is divided there: serve data.train and "
          "data.validation of the server's config, and read each of them (docs/remote-data.md)");
    const std::vector<const char*> ways = ways_given();
    if (ways.size() > 1)
      throw ConfigError(std::string("SplitData: '") + ways[0] + "' and '" + ways[1] +
                        "' cannot be combined; remove one of them");
    if (p_.folds == 1) throw ConfigError("SplitData: 'folds' is 1; must be at least 2, or 0 for none");
    if (p_.fold >= std::max<int64_t>(p_.folds, 1))
      throw ConfigError("SplitData: 'fold' is " + std::to_string(p_.fold) + "; must be below 'folds' (" +
                        std::to_string(p_.folds) + ")");
    if (p_.folds > 0 && !p_.order.empty())
      throw ConfigError(
          "SplitData: 'folds' and 'order' cannot be combined, because training must not see rows after its "
          "validation; set 'shares'");
    if (!p_.column.empty() && (p_.shares || p_.folds > 0))
      throw ConfigError("SplitData: 'column' already defines the parts; remove 'shares' and 'folds'");
    if (p_.column.empty()) name_parts();
  }

  std::shared_ptr<RandomAccessSource> wrapped() const override { return inner_; }
  std::vector<FittedComponent> fitted() const override { return inner_->part<LearnedValues>().fitted(); }
  const ConfigNode* inner() const override { return &p_.source.item; }

  bool knows_spec() const override { return inner_->knows_spec(); }
  Spec spec() const override { return inner_->spec(); }
  int64_t size() const override { return std::ssize(samples_); }
  /// Parts that only look at the data keep their order.
  bool shuffled() const override { return p_.part == kTrainPart && inner_->shuffled(); }
  std::string file_of(int64_t index) const override { return inner_->file_of(place(index)); }
  int64_t index_in_data(int64_t index) const override {
    return inner_->part<DerivedSamples>().index_in_data(place(index));
  }
  bool is_bad(int64_t index) const override { return inner_->part<SampleFacts>().is_bad(place(index)); }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    inner_->get(place(index), key, out);
  }
  std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const override {
    const std::vector<int32_t> all = tpack::class_numbers(*inner_, component);
    std::vector<int32_t> numbers;
    for (const int64_t sample : samples_) numbers.push_back(all[static_cast<size_t>(sample)]);
    return numbers;
  }
  std::vector<std::string> column(const std::string& name) const override {
    const std::vector<std::string> all = inner_->part<TableRows>().column(name);
    std::vector<std::string> texts;
    for (const int64_t sample : samples_) texts.push_back(all[static_cast<size_t>(sample)]);
    return texts;
  }
  std::vector<int64_t> column_widths(const std::string& component) const override {
    return inner_->part<TableRows>().column_widths(component);
  }
  std::string id_column() const override { return inner_->part<TableRows>().id_column(); }
  std::string fingerprint() const override {
    const std::string files = inner_->part<SourceFiles>().fingerprint();
    return files.empty() ? "" : files + " " + to_json(split_settings_schema().dump(p_));
  }

  SourceFacts facts() const override {
    SourceFacts facts = inner_->facts();
    facts.samples = size();
    facts.bad = std::count_if(samples_.begin(), samples_.end(),
                              [&](int64_t i) { return inner_->part<SampleFacts>().is_bad(i); });
    bool is_first = true;
    for (const ComponentSpec& component : class_components()) {
      std::vector<SourceFacts::Class> classes =
          count_classes(component.classes, *class_numbers(component.name));
      if (facts.classes_of.contains(component.name)) facts.classes_of[component.name] = classes;
      if (is_first) facts.classes = std::move(classes);
      is_first = false;
    }
    facts.remarks.insert(facts.remarks.end(), remarks_.begin(), remarks_.end());
    return facts;
  }

 protected:
  void prepare() override {
    inner_->prepare_once(p_.source.item.position());
    samples_.clear();
    remarks_.clear();
    if (p_.column.empty())
      take_shares();
    else
      take_named();
    if (samples_.empty())
      throw DataError("SplitData: part '" + p_.part + "' has none of the " + with_thousands(inner_->size()) +
                      " samples" + (p_.hash ? "; try another seed, or more groups" : ""));
    if (p_.part == kTrainPart) inner_->part<LearnedValues>().learn_from(samples_);
  }

 private:
  int64_t place(int64_t index) const { return samples_[static_cast<size_t>(index)]; }

  /// The criterion for dividing samples; only one is allowed, except that `group` and `hash` can be combined.
  std::vector<const char*> ways_given() const {
    std::vector<const char*> ways;
    if (!p_.stratify.empty() && p_.stratify != kNoStrata) ways.push_back("stratify");
    if (!p_.group.empty()) ways.push_back("group");
    if (!p_.order.empty()) ways.push_back("order");
    if (!p_.column.empty()) ways.push_back("column");
    if (p_.hash && p_.group.empty()) ways.push_back("hash");
    return ways;
  }

  /// Names and shares of all parts, folds last.
  void name_parts() {
    const std::vector<PartShare> fifth = {{kFoldPart, 0.2}};
    const std::vector<PartShare> shares =
        p_.shares.value_or(p_.folds == 0 ? fifth : std::vector<PartShare>());
    double rest = 1;
    for (const PartShare& one : shares) rest -= one.share;
    if (p_.folds == 0) {
      names_.emplace_back(kTrainPart);
      shares_.push_back(rest);
    }
    for (const PartShare& one : shares) {
      if (p_.folds > 0 && one.part == kFoldPart)
        throw ConfigError(one.position,
                          "SplitData: 'validation' is one of the folds; remove it from 'shares'");
      names_.push_back(one.part);
      shares_.push_back(one.share);
    }
    for (int64_t fold = 0; fold < p_.folds; ++fold) {
      names_.emplace_back(fold == p_.fold ? kFoldPart : kTrainPart);
      shares_.push_back(rest / static_cast<double>(p_.folds));
    }
    if (std::find(names_.begin(), names_.end(), p_.part) != names_.end()) return;
    std::vector<std::string> known = names_;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw ConfigError("SplitData: no part '" + p_.part + "'" + did_you_mean(p_.part, known) +
                      "; the parts are " + join(known, ", "));
  }

  static bool has_class_numbers(const ComponentSpec& component) {
    return component.tensor == TensorSpec{DType::kInt32, {}};
  }
  std::vector<ComponentSpec> class_components() const {
    std::vector<ComponentSpec> all;
    for (const ComponentSpec& component : inner_->spec())
      if (!component.classes.empty() && has_class_numbers(component)) all.push_back(component);
    return all;
  }

  /// The class of each sample; all equal if there are no classes.
  std::vector<int32_t> strata() {
    if (!p_.stratify.empty() && p_.stratify != kNoStrata) return strata_of(p_.stratify);
    std::vector<std::string> names;
    for (const ComponentSpec& component : class_components()) names.push_back(component.name);
    if (p_.stratify.empty() && names.size() == 1) return tpack::class_numbers(*inner_, names[0]);
    if (p_.stratify.empty() && names.size() > 1)
      remarks_.push_back(
          "classes do not have the same shares in all parts, because several components are classes (" +
          join(names, ", ") + "); set `stratify` to one of them");
    return std::vector<int32_t>(static_cast<size_t>(inner_->size()));
  }
  /// Errors: ConfigError if the component has no class numbers.
  std::vector<int32_t> strata_of(const std::string& name) const {
    std::vector<std::string> known;
    for (const ComponentSpec& component : inner_->spec())
      if (has_class_numbers(component)) known.push_back(component.name);
    if (std::find(known.begin(), known.end(), name) != known.end())
      return tpack::class_numbers(*inner_, name);
    throw ConfigError("SplitData: 'stratify' is '" + name + "', which is not a component of classes" +
                      did_you_mean(name, known) + "; " +
                      (known.empty() ? "the source has none" : "there are " + join(known, ", ")));
  }

  std::vector<size_t> parts() {
    const auto seed = static_cast<uint64_t>(p_.seed);
    if (!p_.group.empty()) {
      const std::vector<std::string> groups = inner_->part<TableRows>().column(p_.group);
      return p_.hash ? hashed_parts(groups, shares_, seed) : grouped_parts(groups, shares_, seed);
    }
    if (p_.hash) return hashed_parts(stable_names(), shares_, seed);
    if (p_.order.empty()) return stratified_parts(strata(), shares_, seed, p_.folds == 0);
    if (p_.order != kOrderOfRows) return parts_in_order();
    std::vector<std::string> rows;
    for (int64_t i = 0; i < inner_->size(); ++i) rows.push_back(std::to_string(i));
    return ordered_parts(rows, shares_);
  }
  std::vector<size_t> parts_in_order() const {
    try {
      return ordered_parts(inner_->part<TableRows>().column(p_.order), shares_);
    } catch (const DataError& error) {
      throw DataError("SplitData: 'order': column '" + p_.order + "': " + error.what());
    }
  }
  std::vector<std::string> stable_names() const {
    std::vector<std::string> all;
    for (int64_t i = 0; i < inner_->size(); ++i) {
      auto name = inner_->part<SampleFacts>().stable_name(i);
      if (!name)
        throw ConfigError(
            "SplitData: 'hash' needs sample names that do not change when samples are added, so each sample "
            "must be a file; for a table, set 'group' to a column of ids");
      all.push_back(std::move(*name));
    }
    return all;
  }

  void take_shares() {
    std::vector<std::string> part_of;
    for (const size_t part : parts()) part_of.push_back(names_[part]);
    take(part_of, p_.order.empty() ? Overlap::kWarn : Overlap::kLeaveOut);
  }

  enum class Overlap : uint8_t { kWarn, kLeaveOut };

  /// Selects the samples of this part. Windows of a series may predict rows that a window of another part
  /// also predicts: then training would see them.
  void take(const std::vector<std::string>& part_of, Overlap overlap) {
    std::unordered_set<int64_t> of_others;  // rows predicted by parts other than the training
    for (size_t i = 0; i < part_of.size(); ++i) {
      if (part_of[i] == kTrainPart) continue;
      const std::vector<int64_t> rows =
          inner_->part<DerivedSamples>().predicted_rows(static_cast<int64_t>(i));
      of_others.insert(rows.begin(), rows.end());
    }
    int64_t shared = 0;
    for (size_t i = 0; i < part_of.size(); ++i) {
      if (part_of[i] != p_.part) continue;
      const auto index = static_cast<int64_t>(i);
      const bool is_shared = part_of[i] == kTrainPart &&
                             has_any(of_others, inner_->part<DerivedSamples>().predicted_rows(index));
      shared += is_shared ? 1 : 0;
      if (!is_shared || overlap == Overlap::kWarn) samples_.push_back(index);
    }
    if (shared == 0) return;
    const std::string windows = with_thousands(shared) + (shared == 1 ? " window" : " windows");
    if (overlap == Overlap::kLeaveOut)
      remarks_.push_back(windows +
                         " left out, because the rows that they predict also belong to another part");
    else
      log::warning(p_.source.item.position().str() + ": split: " + windows +
                   " for training predict rows that windows of other parts also predict, so the parts "
                   "overlap; for series, set split: {order: rows}");
  }
  static bool has_any(const std::unordered_set<int64_t>& known, const std::vector<int64_t>& rows) {
    return std::any_of(rows.begin(), rows.end(), [&](int64_t row) { return known.contains(row); });
  }

  void take_named() {
    std::map<std::string, int64_t> counts;
    const std::vector<std::string> of_samples = inner_->part<TableRows>().column(p_.column);
    for (const std::string& part : of_samples) ++counts[part];
    take(of_samples, Overlap::kLeaveOut);
    std::vector<std::string> values;
    for (const auto& [value, rows] : counts)
      values.push_back("'" + value + "' (" + std::to_string(rows) + ")");
    if (samples_.empty())
      throw DataError("SplitData: column '" + p_.column + "' has no '" + p_.part + "', but " +
                      join_first(values));
    remarks_.push_back("column '" + p_.column + "' has " + join_first(values));
  }

  Params p_;
  std::shared_ptr<RandomAccessSource> inner_;
  std::vector<std::string> names_;  // of the parts; several folds are of one part
  std::vector<double> shares_;
  std::vector<int64_t> samples_;  // samples of this part, by index in the inner source
  std::vector<std::string> remarks_;
};

TPACK_REGISTER(Source, SplitData, "SplitData");

}  // namespace
}  // namespace tpack
