#include "evaluation/importance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "core/text.h"
#include "dataflow/fitted_data.h"
#include "dataflow/source.h"
#include "draw/bars.h"
#include "draw/text_table.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr int64_t kMostNumbers = 1000;    // largest vector whose numbers are separate units
constexpr double kTogether = 0.8;         // correlation
constexpr int64_t kMostCorrelated = 400;  // most numbers to compare with each other

/// Names and widths of the columns of a component.
struct ColumnParts {
  std::vector<std::string> names;
  std::vector<int64_t> widths;
};

ColumnParts columns_of(const DataFlow& flow, const std::string& component) {
  for (const Source* source : flow.sources()) {
    const auto* indexed = dynamic_cast<const RandomAccessSource*>(source);
    if (indexed == nullptr) continue;
    for (const FittedComponent& one : indexed->part<LearnedValues>().fitted())
      if (one.component == component)
        return {one.columns, indexed->part<TableRows>().column_widths(component)};
  }
  return {};
}

std::vector<ImportanceUnit> units_of_input(const TowerInput& input, size_t number,
                                           const ColumnParts& columns) {
  const Shape& shape = input.spec.shape;
  const int64_t elements = shape.elements();
  const int64_t last = shape.rank() == 0 ? 1 : shape[-1];
  const int64_t sum = std::accumulate(columns.widths.begin(), columns.widths.end(), int64_t{0});
  std::vector<ImportanceUnit> units;
  if (columns.names.size() == columns.widths.size() && sum == last && input.layout.empty()) {
    int64_t begin = 0;
    for (size_t c = 0; c < columns.names.size(); ++c) {
      ImportanceUnit& unit = units.emplace_back(ImportanceUnit{columns.names[c], number});
      for (int64_t row = 0; row < elements; row += last)  // a column of each row of a window
        for (int64_t k = begin; k < begin + columns.widths[c]; ++k) unit.places.push_back(row + k);
      begin += columns.widths[c];
    }
    return units;
  }
  const bool is_vector = shape.rank() == 1 && elements > 1 && elements <= kMostNumbers;
  if (!is_vector || !columns.names.empty()) {
    if (is_vector) log::warning("maps change '" + input.name + "', so its columns are permuted together");
    return {{input.name, number}};
  }
  for (int64_t k = 0; k < elements; ++k)
    units.push_back({input.name + "[" + std::to_string(k) + "]", number, {k}});
  return units;
}

/// All samples of an input. Shape: [N, ...].
Tensor joined(const std::vector<std::vector<Tensor>>& batches, size_t input) {
  int64_t samples = 0;
  for (const auto& batch : batches) samples += batch[input].shape()[0];
  const TensorSpec& spec = batches[0][input].spec();
  Tensor all(spec.dtype, spec.shape.drop_front().prepend(samples));
  auto* to = static_cast<std::byte*>(all.raw());
  for (const auto& batch : batches) {
    std::memcpy(to, batch[input].raw(), batch[input].bytes());
    to += batch[input].bytes();
  }
  return all;
}

/// The data with units of each sample replaced by the values of another one.
class PermutedData {
 public:
  explicit PermutedData(std::vector<std::vector<Tensor>> batches) : batches_(std::move(batches)) {
    for (size_t input = 0; input < batches_[0].size(); ++input) {
      bool is_whole = true;
      for (const auto& batch : batches_) is_whole = is_whole && batch[input].shape().rank() > 0;
      all_.push_back(is_whole ? joined(batches_, input) : Tensor());
    }
  }

  const std::vector<std::vector<Tensor>>& batches() const { return batches_; }
  const Tensor& all(size_t input) const { return all_[input]; }
  std::vector<std::vector<Tensor>> permuted(const std::vector<const ImportanceUnit*>& units,
                                            uint64_t key) const {
    std::vector<std::vector<Tensor>> result = batches_;
    for (const ImportanceUnit* unit : units) {
      const Tensor& all = all_[unit->input];
      const auto samples = static_cast<uint64_t>(all.shape()[0]);
      const size_t sample_bytes = all.bytes() / samples;
      const size_t element = sample_bytes / static_cast<size_t>(all.shape().drop_front().elements());
      const Permutation order(samples, key);
      uint64_t n = 0;
      for (auto& batch : result) {
        Tensor& rows = batch[unit->input];
        const auto number = static_cast<size_t>(&batch - result.data());
        if (rows.raw() == batches_[number][unit->input].raw()) rows = rows.clone();
        auto* to = static_cast<std::byte*>(rows.raw());
        for (int64_t row = 0; row < rows.shape()[0]; ++row, ++n, to += sample_bytes) {
          const auto* from = static_cast<const std::byte*>(all.raw()) + order(n) * sample_bytes;
          if (unit->places.empty()) std::memcpy(to, from, sample_bytes);
          for (const int64_t place : unit->places)
            std::memcpy(to + static_cast<size_t>(place) * element,
                        from + static_cast<size_t>(place) * element, element);
        }
      }
    }
    return result;
  }

 private:
  std::vector<std::vector<Tensor>> batches_;
  std::vector<Tensor> all_;  // of each input
};

/// The numbers of a unit, each with mean 0 and length 1 over all samples; constant numbers are skipped.
std::vector<std::vector<double>> normalized(const PermutedData& data, const ImportanceUnit& unit) {
  const Tensor& all = data.all(unit.input);
  const int64_t samples = all.shape()[0];
  const int64_t width = all.elements() / samples;
  std::vector<std::vector<double>> numbers;
  for (const int64_t place : unit.places) {
    std::vector<double> x;
    for (int64_t n = 0; n < samples; ++n) x.push_back(all.at(n * width + place));
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(samples);
    double squares = 0;
    for (double& one : x) {
      one -= mean;
      squares += one * one;
    }
    if (!(squares > 1e-12)) continue;
    for (double& one : x) one /= std::sqrt(squares);
    numbers.push_back(std::move(x));
  }
  return numbers;
}

/// Groups of two or more units, each correlated with another one of its group.
std::vector<std::vector<const ImportanceUnit*>> groups_of(const PermutedData& data,
                                                          const std::vector<ImportanceUnit>& units) {
  std::vector<std::vector<std::vector<double>>> numbers;
  int64_t count = 0;
  for (const ImportanceUnit& unit : units) count += std::ssize(unit.places);
  if (count > kMostCorrelated) {
    log::warning("--importance: with " + with_thousands(count) + " numbers (more than " +
                 std::to_string(kMostCorrelated) +
                 "), correlated columns are not searched for and not permuted together; such columns look "
                 "less important than they are");
    return {};
  }
  for (const ImportanceUnit& unit : units) numbers.push_back(normalized(data, unit));
  const auto go_together = [&](size_t a, size_t b) {
    for (const auto& x : numbers[a])
      for (const auto& y : numbers[b])
        if (std::abs(std::inner_product(x.begin(), x.end(), y.begin(), 0.0)) >= kTogether) return true;
    return false;
  };
  std::vector<size_t> group(units.size());
  std::iota(group.begin(), group.end(), size_t{0});
  for (size_t a = 0; a < units.size(); ++a) {
    for (size_t b = a + 1; b < units.size(); ++b) {
      if (group[a] != group[b] && go_together(a, b))
        std::replace(group.begin(), group.end(), group[b], group[a]);
    }
  }
  std::vector<std::vector<const ImportanceUnit*>> groups;
  for (size_t g = 0; g < units.size(); ++g) {
    std::vector<const ImportanceUnit*> members;
    for (size_t i = 0; i < units.size(); ++i)
      if (group[i] == g) members.push_back(&units[i]);
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  return groups;
}

/// The quantile 0.975 of Student's t; beyond the table, the expansion of Abramowitz and Stegun, 26.7.5.
double student(int64_t freedom) {
  constexpr std::array<double, 30> kQuantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom <= std::ssize(kQuantiles)) return kQuantiles.at(static_cast<size_t>(freedom - 1));
  const auto n = static_cast<double>(freedom);
  return 1.95996 + (2.3723 + 2.8225 / n) / n;
}

Importance summary(std::string name, std::vector<double> values) {
  Importance one{std::move(name), std::move(values)};
  const auto count = static_cast<double>(one.values.size());
  one.mean = std::accumulate(one.values.begin(), one.values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : one.values) squares += (value - one.mean) * (value - one.mean);
  one.deviation = std::sqrt(squares / count);  // as in scikit-learn
  const double half =
      count > 1 ? student(std::ssize(one.values) - 1) * std::sqrt(squares / (count - 1) / count) : 0;
  one.low = one.mean - half;
  one.high = one.mean + half;
  return one;
}

double value_of(const Evaluator::Result& result, const std::string& statistic) {
  return std::find_if(result.begin(), result.end(), [&](const auto& one) { return one.first == statistic; })
      ->second;
}

/// 1 if a lower value is worse.
double sign_of(const Evaluator& evaluator, const std::string& statistic) {
  const StatisticGoals goals = evaluator.goals();
  const auto found = goals.find(statistic);
  if (found == goals.end())
    throw ConfigError("--importance: unknown statistic '" + statistic + "'" +
                      did_you_mean(statistic, names_of(goals)) + "; known: " + join(names_of(goals), ", "));
  if (!found->second)
    throw ConfigError("--importance: unknown whether high or low values of '" + statistic +
                      "' are better; known: " + join(names_of(goals), ", "));
  return *found->second == Goal::kMax ? 1 : -1;
}

}  // namespace

std::vector<ImportanceUnit> importance_units(const Evaluator& evaluator,
                                             const std::vector<TowerInput>& inputs, const DataFlow& flow) {
  const std::vector<std::string> predicting = evaluator.predicting_inputs();
  std::vector<ImportanceUnit> units;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::find(predicting.begin(), predicting.end(), inputs[i].name) == predicting.end()) continue;
    for (ImportanceUnit& unit : units_of_input(inputs[i], i, columns_of(flow, inputs[i].component)))
      units.push_back(std::move(unit));
  }
  return units;
}

ImportanceTable::ImportanceTable(Evaluator& evaluator, const std::vector<ImportanceUnit>& units,
                                 const ImportanceOptions& options) {
  const double sign = sign_of(evaluator, options.statistic);
  title_ = (sign > 0 ? "fall of " : "rise of ") + options.statistic;
  const PermutedData data(evaluator.read_batches());
  const double whole = value_of(evaluator.run_on(data.batches()), options.statistic);
  const auto importance_of = [&](const std::vector<const ImportanceUnit*>& of) {
    std::vector<std::string> names;
    std::vector<double> values;
    for (const ImportanceUnit* unit : of) names.push_back(unit->name);
    const std::string name = join(names, " + ");
    for (int64_t k = 0; k < options.repeats; ++k) {
      const uint64_t key = mix(options.seed + static_cast<uint64_t>(k), stable_hash(name));
      values.push_back(sign *
                       (whole - value_of(evaluator.run_on(data.permuted(of, key)), options.statistic)));
    }
    return summary(name, std::move(values));
  };
  for (const ImportanceUnit& unit : units) rows_.push_back(importance_of({&unit}));
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Importance& a, const Importance& b) { return a.mean > b.mean; });
  for (const auto& group : groups_of(data, units)) rows_.push_back(importance_of(group));
}

std::string ImportanceTable::str() const {
  TextTable table({"permuted", title_, "low", "high"});
  for (const Importance& row : rows_)
    table.add({row.name, short_text(row.mean), short_text(row.low), short_text(row.high)});
  return table.str();
}

nlohmann::ordered_json ImportanceTable::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Importance& row : rows_)
    list.push_back({{"permuted", row.name},
                    {"mean", row.mean},
                    {"deviation", row.deviation},
                    {"low", row.low},
                    {"high", row.high}});
  return list;
}

std::string ImportanceTable::svg() const {
  std::vector<Bar> bars;
  for (const Importance& row : rows_) {
    if (std::isfinite(row.low) && std::isfinite(row.high))
      bars.push_back({row.name, row.mean, row.low, row.high});
  }
  return svg_bars(title_ + " where a column has the values of other samples", bars);
}

}  // namespace tpack
