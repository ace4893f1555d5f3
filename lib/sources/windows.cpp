#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "sources/split_parts.h"
#include "system/log.h"

namespace tpack {
namespace {

struct RowWindowsParams {
  Part<Source> source;
  int64_t length = 1;
  std::vector<std::string> targets;
  int64_t horizon = 1;
  int64_t stride = 1;
  std::string key;
  std::string order;
};

/// A sample is `length` consecutive rows of a series of the inner source: component x [...] becomes [length,
/// ...]. Target components have the `horizon` rows after them: [horizon, ...], or without that axis if it is
/// 1. The position of a sample is that of the last predicted row, even if the targets are not read; after the
/// end of a series it has no columns except `key`.
class RowWindows final : public RandomAccessSource,
                         public SourceFiles,
                         public LearnedValues,
                         public SampleFacts,
                         public TableRows,
                         public DerivedSamples,
                         public WrappingSource {
 public:
  using Params = RowWindowsParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Windows over the rows of a table, for time series: past rows are the input, the next rows "
               "the target.")
        .example(
            "Windows: {source: {CSV: {file: sales.csv, columns: {x: [sales, price], y: sales}}}, length: 12, "
            "targets: [y]}")
        .field("source", &Params::source,
               "the source of the rows; without `order`, rows must be in time order")
        .required()
        .field("length", &Params::length, at_least(1),
               "rows of a window; a component gets a first axis of this size")
        .required()
        .field("targets", &Params::targets, "components to predict: they get the rows after the window")
        .field("horizon", &Params::horizon, at_least(1),
               "number of rows of the targets; 1: the next row, without a time axis")
        .field("stride", &Params::stride, at_least(1), "rows between the starts of two windows")
        .field("key", &Params::key,
               "column that identifies the series: no window spans two series. Rows of a series must be in "
               "time order; rows of other series may be between them")
        .field("order", &Params::order,
               "column of numbers, dates or times to sort the rows of each series by; default: the order of "
               "the file");
  }
  explicit RowWindows(const Params& p)
      : RowWindows(
            p,
            std::dynamic_pointer_cast<RandomAccessSource>(std::const_pointer_cast<Source>(p.source.object)),
            p.targets.empty() ? 0 : p.horizon) {
    if (rows_ == nullptr)
      throw ConfigError("Windows: the source must be readable in any order, such as CSV or Npz");
  }

  std::shared_ptr<RandomAccessSource> wrapped() const override { return rows_; }
  std::vector<FittedComponent> fitted() const override { return rows_->part<LearnedValues>().fitted(); }
  bool knows_spec() const override { return rows_->knows_spec(); }
  Spec spec() const override {
    const Spec rows = rows_->spec();
    for (const std::string& target : p_.targets) rows.index({target.c_str()}, "Windows");
    std::vector<ComponentSpec> components(rows.begin(), rows.end());
    for (ComponentSpec& component : components) {
      if (component.is_image)
        throw ConfigError("Windows: component '" + component.name + "' is an image; windows need numbers");
      const bool is_after = is_target(component.name);
      const int64_t count = is_after ? p_.horizon : p_.length;
      if (is_after && count == 1) continue;
      component.tensor = {component.tensor.dtype, component.tensor.shape.prepend(count)};
    }
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "source"; }
  int64_t size() const override { return std::ssize(windows_); }
  bool shuffled() const override { return rows_->shuffled(); }
  std::string file_of(int64_t index) const override {
    const PredictedRow last = predicted(index);
    return rows_->file_of(last.known) + (last.after == 0 ? "" : " + " + std::to_string(last.after));
  }
  int64_t index_in_data(int64_t index) const override {
    const PredictedRow last = predicted(index);
    return last.after == 0 ? rows_->part<DerivedSamples>().index_in_data(last.known)
                           : rows_->size() + last.after - 1;
  }
  std::vector<int64_t> column_widths(const std::string& component) const override {
    return rows_->part<TableRows>().column_widths(component);
  }
  std::string id_column() const override { return rows_->part<TableRows>().id_column(); }
  std::string fingerprint() const override { return rows_->part<SourceFiles>().fingerprint(); }
  SourceFacts facts() const override {
    SourceFacts facts = rows_->facts();
    facts.remarks.insert(facts.remarks.begin(), "of " + facts.str());
    facts.classes = {};
    facts.classes_of = {};
    facts.samples = size();
    facts.unit = "windows";
    facts.bad = 0;
    for (int64_t i = 0; i < size(); ++i) facts.bad += is_bad(i) ? 1 : 0;
    return facts;
  }
  bool is_bad(int64_t index) const override {
    const auto rows = rows_of(index);
    const auto& facts = rows_->part<SampleFacts>();
    return std::any_of(rows.begin(), rows.end(),
                       [&](size_t row) { return facts.is_bad(static_cast<int64_t>(row)); });
  }
  std::vector<std::string> column(const std::string& name) const override {
    const std::vector<std::string> all = rows_->part<TableRows>().column(name);
    std::vector<std::string> texts;
    for (int64_t i = 0; i < size(); ++i) {
      const PredictedRow last = predicted(i);
      const bool is_known = last.after == 0 || name == p_.key;
      texts.push_back(is_known ? all[static_cast<size_t>(last.known)] : "");
    }
    return texts;
  }
  void learn_from(const std::vector<int64_t>& samples) override {
    std::set<int64_t> rows;
    for (const int64_t sample : samples) {
      const auto own = rows_of(sample);
      rows.insert(own.begin(), own.end());
    }
    rows_->part<LearnedValues>().learn_from({rows.begin(), rows.end()});
    note_specs();
  }
  std::vector<int64_t> predicted_rows(int64_t index) const override {
    if (p_.targets.empty()) return {};
    const auto rows = rows_of(index).last(static_cast<size_t>(p_.horizon));
    return {rows.begin(), rows.end()};
  }
  /// For a file without targets, the last window has the last rows.
  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    auto rows = rows_->part<SourceFiles>().reopen_with(path, components);
    if (rows == nullptr) return nullptr;
    Params p = p_;
    p.stride = 1;
    std::erase_if(p.targets, [&](const std::string& target) {
      return std::find(components.begin(), components.end(), target) == components.end();
    });
    return std::shared_ptr<RowWindows>(new RowWindows(std::move(p), std::move(rows), ahead_));
  }

  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    Datapoint& row = out.child(0);
    row.resize(row_spec_.size());
    for (size_t i = 0; i < row_spec_.size(); ++i) out.renew(i, window_spec_[i].tensor);
    const auto rows = rows_of(index);
    for (int64_t k = 0; k < std::ssize(rows); ++k) {
      get_row(static_cast<int64_t>(rows[static_cast<size_t>(k)]), key, row);
      for (size_t i = 0; i < row_spec_.size(); ++i) {
        const bool is_after = is_target(row_spec_[i].name);
        const int64_t at = is_after ? k - p_.length : k;
        const int64_t count = is_after ? p_.horizon : p_.length;
        if (at < 0 || at >= count) continue;
        const Tensor& value = row.to_tensor(i);
        std::memcpy(out.tensor(i).raw() + static_cast<size_t>(at) * value.bytes(), value.raw(),
                    value.bytes());
      }
    }
  }

 protected:
  void prepare() override {
    rows_->prepare_once(p_.source.item.position());
    const std::vector<std::string> keys =
        p_.key.empty() ? std::vector<std::string>() : rows_->part<TableRows>().column(p_.key);
    order_rows(keys);
    find_windows();
    note_specs();
    if (windows_.empty())
      throw DataError("Windows: a window needs " + std::to_string(span()) + " rows, " +
                      (keys.empty() ? "but there are " + with_thousands(rows_->size())
                                    : "but no series of column '" + p_.key + "' has this many"));
  }

 private:
  /// Rows of the source, by series and then by time.
  void order_rows(const std::vector<std::string>& keys) {
    std::map<std::string, size_t> series;  // by key, in the order of their first rows
    for (const std::string& key : keys) series.emplace(key, series.size());
    series_of_.clear();
    for (int64_t row = 0; row < rows_->size(); ++row)
      series_of_.push_back(keys.empty() ? 0 : series.at(keys[static_cast<size_t>(row)]));
    order_.resize(series_of_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    const std::vector<double> times = times_of_rows();
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      if (series_of_[a] != series_of_[b]) return series_of_[a] < series_of_[b];
      return !p_.order.empty() && times[a] < times[b];
    });
    if (p_.order.empty() && !times.empty()) warn_of_disorder(times);
  }
  /// The values of `order`, or of the column that seems to be the time; empty if there is none.
  std::vector<double> times_of_rows() const {
    const std::string name = p_.order.empty() ? rows_->part<TableRows>().time_column() : p_.order;
    if (name.empty()) return {};
    try {
      return order_values(rows_->part<TableRows>().column(name));
    } catch (const DataError& error) {
      if (p_.order.empty()) return {};
      throw DataError("Windows: 'order': column '" + p_.order + "' has " + error.what());
    }
  }
  void warn_of_disorder(const std::vector<double>& times) const {
    const auto goes_back = [&](size_t a, size_t b) {
      return series_of_[a] == series_of_[b] && times[a] > times[b];
    };
    const auto found = std::adjacent_find(order_.begin(), order_.end(), goes_back);
    if (found == order_.end()) return;
    log::warning("Windows: column '" + rows_->part<TableRows>().time_column() + "' goes back in time from " +
                 rows_->file_of(static_cast<int64_t>(found[0])) + " to " +
                 rows_->file_of(static_cast<int64_t>(found[1])) +
                 ", but windows use rows in the order of the file; to sort them, set order: " +
                 rows_->part<TableRows>().time_column());
  }
  /// The windows of each series, in the order of their last rows.
  void find_windows() {
    windows_.clear();
    for (size_t first = 0, end = 0; first < order_.size(); first = end) {
      while (end < order_.size() && series_of_[order_[end]] == series_of_[order_[first]]) ++end;
      for (size_t begin = first; begin + span() <= end; begin += static_cast<size_t>(p_.stride))
        windows_.push_back({begin, end});
    }
    const auto last_of = [&](const Window& one) { return order_[one.begin + span() - 1]; };
    std::sort(windows_.begin(), windows_.end(),
              [&](const Window& a, const Window& b) { return last_of(a) < last_of(b); });
  }
  RowWindows(Params p, std::shared_ptr<RandomAccessSource> rows, int64_t ahead)
      : p_(std::move(p)), rows_(std::move(rows)), ahead_(ahead) {}

  /// Errors: FileError with the position of the row.
  void get_row(int64_t index, const SampleKey& key, Datapoint& out) const {
    try {
      rows_->get(index, key, out);
    } catch (const FileError&) {
      throw;
    } catch (const DataError& error) {
      throw FileError(rows_->file_of(index), error.what());
    }
  }
  void note_specs() {
    row_spec_ = rows_->spec();
    window_spec_ = spec();
  }
  bool is_target(const std::string& component) const {
    return std::find(p_.targets.begin(), p_.targets.end(), component) != p_.targets.end();
  }
  /// Rows of a sample.
  size_t span() const { return static_cast<size_t>(p_.length + (p_.targets.empty() ? 0 : p_.horizon)); }
  std::span<const size_t> rows_of(int64_t index) const {
    return std::span(order_).subspan(windows_[static_cast<size_t>(index)].begin, span());
  }

  /// The last row that a sample predicts: `after` rows after a known one.
  struct PredictedRow {
    int64_t known = 0;
    int64_t after = 0;
  };
  PredictedRow predicted(int64_t index) const {
    const Window& window = windows_[static_cast<size_t>(index)];
    const size_t last = window.begin + static_cast<size_t>(p_.length + ahead_) - 1;
    const size_t known = std::min(last, window.end_of_series - 1);
    return {static_cast<int64_t>(order_[known]), static_cast<int64_t>(last - known)};
  }

  /// Places in `order_`.
  struct Window {
    size_t begin = 0;
    size_t end_of_series = 0;
  };

  Params p_;
  std::shared_ptr<RandomAccessSource> rows_;
  int64_t ahead_ = 0;              // predicted rows, even if the targets are not read
  std::vector<size_t> series_of_;  // each row
  std::vector<size_t> order_;      // rows, sorted by series
  std::vector<Window> windows_;
  Spec row_spec_;  // of `rows_`
  Spec window_spec_;
};

TPACK_REGISTER(Source, RowWindows, "Windows");

}  // namespace
}  // namespace tpack
