#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "tensor/state.h"

namespace tpack {

/// How to scale the numbers of a column.
enum class ColumnScale : uint8_t { kStandardize, kMinMax, kQuantile, kLog1p, kNone };

template <>
struct EnumNames<ColumnScale> {
  static constexpr std::array<std::pair<const char*, ColumnScale>, 5> kNames = {
      {{"standardize", ColumnScale::kStandardize},
       {"min_max", ColumnScale::kMinMax},
       {"quantile", ColumnScale::kQuantile},
       {"log1p", ColumnScale::kLog1p},
       {"none", ColumnScale::kNone}}};
};

/// `scale: quantile` for all columns of numbers, or {fare: log1p, age: min_max} by column.
struct ColumnScales {
  ColumnScale of_all = ColumnScale::kStandardize;
  std::vector<std::pair<std::string, ColumnScale>> by_column = {};
  Position position = {};

  bool is_default() const { return of_all == ColumnScale::kStandardize && by_column.empty(); }
};

template <>
struct Codec<ColumnScales> {
  static FieldType type();
  static std::optional<ColumnScales> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const ColumnScales& scales);
};

/// `clip: 5` in deviations, or {fare: [0, 300]} in units of the file.
struct ColumnClips {
  std::optional<double> of_all = {};
  std::vector<std::pair<std::string, std::pair<double, double>>> by_column = {};
  Position position = {};

  bool empty() const { return !of_all && by_column.empty(); }
};

template <>
struct Codec<ColumnClips> {
  static FieldType type();
  static std::optional<ColumnClips> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const ColumnClips& clips);
};

/// Scales the numbers of a column to a range for networks:
///
/// - standardize: (x - mean) / deviation
/// - log1p: the same of log(1 + x)
/// - min_max: (x - min) / (max - min)
/// - quantile: the share of the numbers below x, as the number below which a normal distribution has this
/// share;
///   between -5.2 and 5.2. Source: scikit-learn QuantileTransformer (output_distribution="normal").
/// - none: x
///
/// If all numbers of a column are equal, they become 0, except with none. A value.
class NumberScaling {
 public:
  NumberScaling() = default;
  explicit NumberScaling(ColumnScale kind) : kind_(kind) {}
  /// For a column of the config.
  NumberScaling(const ColumnScales& scales, const ColumnClips& clips, const std::string& column);

  ColumnScale kind() const { return kind_; }
  /// The number within the column's limits, or its logarithm; input of the other functions. Nothing for log1p
  /// of -1 or less.
  std::optional<double> prepared(double x) const {
    const double within = std::clamp(x, low_, high_);
    if (kind_ != ColumnScale::kLog1p) return within;
    return within > -1 ? std::optional(std::log1p(within)) : std::nullopt;
  }
  /// Learns from numbers; needs at least one.
  void fit(const std::vector<float>& prepared);
  double operator()(double prepared) const;

  void put_into(State& state) const;
  static NumberScaling from(const State& state);

 private:
  static constexpr double kNoLimit = std::numeric_limits<double>::max();

  void fit_quantiles(std::vector<float> prepared);
  double normal_score(double x) const;

  ColumnScale kind_ = ColumnScale::kStandardize;
  double low_ = -kNoLimit;  // of a number in the file
  double high_ = kNoLimit;
  double limit_ = kNoLimit;  // in deviations
  // Learned:
  double mean_ = 0;
  double factor_ = 1;  // 1 / deviation
  std::vector<double> quantiles_;
};

/// The number below which a normal distribution has the share `p`, which is above 0 and below 1.
double normal_quantile(double p);

}  // namespace tpack
