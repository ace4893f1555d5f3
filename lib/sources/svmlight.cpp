#include "sources/format/svmlight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/file_stamp.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "system/mapped_file.h"
#include "table/csv.h"

namespace tpack {
namespace {

enum class TargetForm : uint8_t { kAuto, kClass, kNumber, kSet };

}  // namespace

template <>
struct EnumNames<TargetForm> {
  static constexpr std::array<std::pair<const char*, TargetForm>, 4> kNames = {
      {{"auto", TargetForm::kAuto},
       {"class", TargetForm::kClass},
       {"number", TargetForm::kNumber},
       {"set", TargetForm::kSet}}};
};

namespace {

/// Limit because samples are dense, and checkpoints store the names of the features.
constexpr int64_t kMostFeatures = int64_t{1} << 22;

struct SvmLightParams {
  Ref<Path> file;
  std::string x = "x";
  std::string y = "y";
  TargetForm targets = TargetForm::kAuto;
  std::optional<int64_t> features = {};
  bool zero_based = false;
  bool shuffle = true;
};

/// All of the file is read when it is opened; features that are zero take no memory until a sample is read.
/// A bad line becomes a bad sample.
class SvmLight final : public RandomAccessSource, public SourceFiles, public LearnedValues {
 public:
  using Params = SvmLightParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads the text format of SVMLight and libsvm, `target index:value index:value ...`, one "
               "sample per line. Provides the feature vector `x` and the target `y`.")
        .example("SVMLight: heart_scale")
        .field("file", &Params::file, "the file; # starts a comment, `qid:` is ignored")
        .required()
        .shorthand()
        .field("x", &Params::x,
               "name of the component of the features: float32 [features], 0 where a line "
               "has none")
        .field("y", &Params::y, "name of the component of the targets")
        .field("targets", &Params::targets,
               "class: integers are class names, labels are int32 from 0 in the numeric order of data.train; "
               "number: float32; set: any number of classes, separated by commas, as a float32 vector with 0 "
               "or 1 for each class; auto: same as data.train, where it is set if a line has commas, class "
               "if all targets are integers, else number")
        .field("features", &Params::features, between(1, kMostFeatures),
               "number of features; default: computed from the largest index in data.train; other flows "
               "ignore larger indices")
        .field("zero_based", &Params::zero_based, "true: the first feature has the index 0; false: 1")
        .field("shuffle", &Params::shuffle, "use a new order in each pass");
  }
  explicit SvmLight(Params p) : p_(std::move(p)), path_(resolved_path(p_.file)) {
    if (p_.x == p_.y)
      throw ConfigError("SVMLight: 'x' and 'y' are both '" + p_.x + "'; components need different names");
  }

  bool knows_spec() const override { return false; }
  Spec spec() const override {
    std::vector<ComponentSpec> components;
    if (has_x_) components.push_back({p_.x, {DType::kFloat32, {width_}}});
    if (has_y_) components.push_back({p_.y, target_spec(), false, names_});
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "file"; }
  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  bool shuffled() const override { return p_.shuffle; }
  std::string fingerprint() const override { return file_stamp(path_); }
  std::string file_of(int64_t index) const override { return path_ + ":" + std::to_string(row(index).line); }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "rows", .bad = std::ssize(bad_)};
    if (form_ == TargetForm::kClass && has_y_) {
      for (const std::string& name : names_) facts.classes.push_back({name, 0});
      for (const Row& row : rows_)
        if (row.label >= 0) ++facts.classes[static_cast<size_t>(row.label)].samples;
      facts.classes_of[p_.y] = facts.classes;
    }
    if (further_rows_ > 0)
      facts.remarks.push_back(
          "features that data.train does not have are not read: " + with_thousands(further_rows_) +
          (further_rows_ == 1 ? " row has" : " rows have") + " an index above " +
          std::to_string(last_index()));
    if (!rounded_.empty())
      facts.remarks.push_back("has numbers above 16,777,216 that float32 rounds, such as " + rounded_);
    if (!absent_.empty())
      facts.remarks.push_back("does not have these classes of data.train: " + join_first(absent_));
    if (!bad_.empty()) {
      const auto& [row, why] = *bad_.begin();
      facts.remarks.push_back(with_thousands(facts.bad) +
                              (bad_.size() == 1 ? " bad row: " : " bad rows; the first one is ") + "line " +
                              std::to_string(rows_[row].line) + ": " + why);
    }
    return facts;
  }
  std::vector<FittedComponent> fitted() const override {
    std::vector<std::string> features;
    for (int64_t i = 0; i < width_; ++i) features.push_back(std::to_string(i + base()));
    const bool is_set = form_ == TargetForm::kSet;
    return {{name(), p_.x, std::move(features)},
            is_set ? FittedComponent{name(), p_.y, names_} : FittedComponent{name(), p_.y, {}, names_}};
  }

  std::optional<TextLines> text_lines() const override { return TextLines::kAll; }
  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    const auto is_wanted = [&](const std::string& name) {
      return std::find(components.begin(), components.end(), name) != components.end();
    };
    Params p = p_;
    p.file = {path, {}};
    p.shuffle = false;
    auto reader = std::make_shared<SvmLight>(std::move(p));
    reader->is_reader_ = true;
    reader->has_x_ = is_wanted(p_.x);
    reader->has_y_ = is_wanted(p_.y);
    if (reader->has_y_ && p_.targets != TargetForm::kNumber && !opened_fit(p_.y))
      throw ConfigError(p_.file.position,
                        "SVMLight: the labels of '" + p_.y + "' depend on the classes of data.train");
    reader->follow_as(*this);
    return reader;
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    if (const auto bad = bad_.find(static_cast<size_t>(index)); bad != bad_.end()) {
      throw DataError(bad->second + (is_reader_ ? "" : kLeaveRowsOut));  // a single file has no such setting
    }
    size_t component = 0;
    if (has_x_) {
      auto* const x = out.renew(component++, {DType::kFloat32, {width_}}).data<float>();
      std::fill_n(x, width_, 0.0F);
      for (size_t i = row(index).features; i < end_of_features(index) && indices_[i] < width_; ++i)
        x[indices_[i]] = values_[i];
    }
    if (has_y_) put_target(index, out.renew(component, target_spec()));
  }

 protected:
  void prepare() override {
    require_path("SVMLight", p_.file);
    forget();
    const MappedFile file(path_);
    const auto bytes = file.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    SvmLightReader reader(text, path_);
    for (SvmLightRow row; reader.next(row);) add_row(row);
    if (rows_.empty()) throw DataError(path_, "has no samples");
    if (has_y_) set_targets();
    if (has_x_) set_width();
    if (bad_.size() == rows_.size())
      throw DataError(file_of(0), bad_.at(0) + "; all " + with_thousands(size()) + " rows are bad");
  }

 private:
  struct Row {
    int64_t line = 0;
    size_t features = 0;  // the first of them in indices_ and values_
    size_t targets = 0;   // the first of them in targets_
    int32_t label = -1;
  };

  const Row& row(int64_t index) const { return rows_[static_cast<size_t>(index)]; }
  size_t end_of_features(int64_t index) const {
    return index + 1 < size() ? row(index + 1).features : indices_.size();
  }
  std::span<const double> targets_of(size_t row) const {
    const size_t begin = rows_[row].targets;
    const size_t end = row + 1 < rows_.size() ? rows_[row + 1].targets : targets_.size();
    return {targets_.data() + begin, end - begin};
  }
  int64_t base() const { return p_.zero_based ? 0 : 1; }
  int64_t last_index() const { return width_ - 1 + base(); }
  TensorSpec target_spec() const {
    if (form_ == TargetForm::kClass) return {DType::kInt32, {}};
    if (form_ == TargetForm::kSet) return {DType::kFloat32, {std::ssize(names_)}};
    return {DType::kFloat32, {}};
  }

  void forget() {
    rows_.clear();
    indices_.clear();
    values_.clear();
    targets_.clear();
    names_.clear();
    classes_.clear();
    bad_.clear();
    absent_.clear();
    rounded_.clear();
    further_rows_ = 0;
  }

  /// Errors: DataError for an index below the first one, because then all indices count differently.
  void add_row(const SvmLightRow& row) {
    Row& added = rows_.emplace_back();
    added = {row.line, indices_.size(), targets_.size()};
    std::string why = row.why;
    if (why.empty() && !row.features.empty()) {
      if (row.features.front().index < base())
        throw DataError(path_ + ":" + std::to_string(row.line),
                        "has feature 0, but features are counted from 1; set zero_based: true");
      const int64_t largest = row.features.back().index;
      const int64_t most = p_.features.value_or(kMostFeatures) - 1 + base();
      if (largest > most)
        why = "feature " + std::to_string(largest) + " is above " + std::to_string(most) +
              (p_.features ? ", the last one of 'features'" : ", the last one that can be read");
    }
    if (!why.empty()) {
      bad_[rows_.size() - 1] = why;
      return;
    }
    if (rounded_.empty()) rounded_ = row.rounded;
    for (const SvmLightRow::Feature& feature : row.features) {
      indices_.push_back(static_cast<uint32_t>(feature.index - base()));
      values_.push_back(feature.value);
    }
    targets_.insert(targets_.end(), row.targets.begin(), row.targets.end());
  }

  /// The form from the config or data.train; else the one that fits all lines.
  TargetForm form(const std::optional<FittedComponent>& train) const {
    if (p_.targets != TargetForm::kAuto) return p_.targets;
    if (train && !train->classes.empty()) return TargetForm::kClass;
    if (train) return train->columns.empty() ? TargetForm::kNumber : TargetForm::kSet;
    for (size_t row = 0; row < rows_.size(); ++row)
      if (targets_of(row).size() > 1) return TargetForm::kSet;
    const bool are_integers =
        std::all_of(targets_.begin(), targets_.end(), [](double t) { return t == std::trunc(t); });
    return are_integers ? TargetForm::kClass : TargetForm::kNumber;
  }

  /// Numbers the classes, and finds the rows whose targets have another form.
  void set_targets() {
    const auto train = opened_fit(p_.y);
    form_ = form(train);
    if (train && form_ == TargetForm::kClass) names_ = train->classes;
    if (train && form_ == TargetForm::kSet) names_ = train->columns;
    const bool are_known = !names_.empty();
    number_classes();
    std::set<double> seen;
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (bad_.contains(row)) continue;
      const std::string why = complaint(targets_of(row), are_known);
      if (!why.empty())
        bad_[row] = why;
      else if (form_ != TargetForm::kNumber)
        seen.insert(targets_of(row).begin(), targets_of(row).end());
    }
    if (!are_known) {
      for (const double number : seen) names_.push_back(shortest(number));
      number_classes();
    }
    for (const auto& [number, label] : classes_)
      if (!seen.contains(number) && !is_reader_) absent_.push_back(shortest(number));
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (form_ == TargetForm::kClass && !bad_.contains(row))
        rows_[row].label = classes_.at(targets_of(row).front());
    }
  }

  void number_classes() {
    for (size_t label = 0; label < names_.size(); ++label)
      if (const auto number = csv_number(names_[label])) classes_[*number] = static_cast<int32_t>(label);
  }

  /// Why the targets of a row are bad; empty if they are good.
  std::string complaint(std::span<const double> targets, bool are_classes_known) const {
    if (form_ != TargetForm::kSet && targets.size() != 1) {
      return targets.empty() ? "has no target before its features"
                             : "has " + std::to_string(targets.size()) +
                                   " targets; several classes of a sample need targets: set";
    }
    if (form_ == TargetForm::kNumber) {
      const bool fits = std::abs(targets[0]) <= std::numeric_limits<float>::max();
      return fits ? "" : "target " + shortest(targets[0]) + " is not a number of float32";
    }
    for (const double target : targets) {
      if (target != std::trunc(target))
        return "target " + shortest(target) +
               " is not an integer, but class numbers are; for numbers, set targets: number";
      if (are_classes_known && !classes_.contains(target))
        return "target " + shortest(target) + " is not a class of data.train, which has " +
               join_first(names_);
    }
    return "";
  }

  void set_width() {
    const auto train = p_.features ? std::nullopt : opened_fit(p_.x);
    width_ = p_.features ? *p_.features : train ? std::ssize(train->columns) : 0;
    const bool is_known = width_ > 0;
    for (int64_t index = 0; index < size(); ++index) {
      if (bad_.contains(static_cast<size_t>(index)) || row(index).features == end_of_features(index))
        continue;
      const int64_t needed = int64_t{indices_[end_of_features(index) - 1]} + 1;
      if (is_known)
        further_rows_ += needed > width_ ? 1 : 0;
      else
        width_ = std::max(width_, needed);
    }
    if (width_ == 0 && bad_.size() < rows_.size())
      throw DataError(path_, "has no features; a line is `target index:value index:value ...`");
  }

  void put_target(int64_t index, const Tensor& to) const {
    const std::span<const double> targets = targets_of(static_cast<size_t>(index));
    if (form_ == TargetForm::kClass) *to.data<int32_t>() = row(index).label;
    if (form_ == TargetForm::kNumber) *to.data<float>() = static_cast<float>(targets.front());
    if (form_ != TargetForm::kSet) return;
    std::fill_n(to.data<float>(), names_.size(), 0.0F);
    for (const double target : targets) to.data<float>()[classes_.at(target)] = 1;
  }

  Params p_;
  std::string path_;
  bool is_reader_ = false;  // for a file that need not have all classes
  bool has_x_ = true;
  bool has_y_ = true;
  int64_t width_ = 0;  // features of a sample
  TargetForm form_ = TargetForm::kAuto;
  std::vector<Row> rows_;
  std::vector<uint32_t> indices_;      // of the features that are not zero, from 0
  std::vector<float> values_;          // of the same
  std::vector<double> targets_;        // as in the file
  std::vector<std::string> names_;     // of the classes, in the order of their labels
  std::map<double, int32_t> classes_;  // label by the number of the class
  std::map<size_t, std::string> bad_;  // reasons of bad rows
  std::vector<std::string> absent_;    // classes of data.train that no row has
  std::string rounded_;                // the first large number that float32 rounds
  int64_t further_rows_ = 0;           // rows with features that data.train does not have
};

TPACK_REGISTER(Source, SvmLight, "SVMLight");

}  // namespace
}  // namespace tpack
