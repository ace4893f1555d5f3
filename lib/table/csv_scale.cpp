#include "table/csv_scale.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "core/error.h"

namespace tpack {
namespace {

constexpr size_t kMaxQuantiles = 1000;

constexpr const char* kWantedScale = "a scale, or scales by column, such as {fare: log1p}";
constexpr const char* kWantedClip =
    "a number of deviations above 0, or limits by column, such as {fare: [0, 300]}";

const char* name_of(ColumnScale scale) {
  return EnumNames<ColumnScale>::kNames[static_cast<size_t>(scale)].first;
}

/// The value at `x` of the line through (xs[i], ys(i)); xs is sorted, and x is between the first and the
/// last. For equal xs, the last or the first one counts.
template <class Ys>
double interpolated(const std::vector<double>& xs, const Ys& ys, double x, bool is_last_of_equal) {
  const auto next = is_last_of_equal ? std::upper_bound(xs.begin(), xs.end(), x)
                                     : std::lower_bound(xs.begin(), xs.end(), x);
  const auto upper = static_cast<size_t>(next - xs.begin());
  if (upper == 0) return ys(0);
  if (upper == xs.size()) return ys(xs.size() - 1);
  const size_t lower = upper - 1;
  return ys(lower) + (x - xs[lower]) / (xs[upper] - xs[lower]) * (ys(upper) - ys(lower));
}

}  // namespace

FieldType Codec<ColumnScales>::type() {
  const FieldType scale = Codec<ColumnScale>::type();
  return FieldType::either({scale, FieldType::map_of(scale, "scales by column")}, kWantedScale);
}

std::optional<ColumnScales> Codec<ColumnScales>::parse(const ConfigNode& node, Reader& reader) {
  ColumnScales scales{.position = node.position()};
  if (!node.is_map()) {
    const auto of_all = Codec<ColumnScale>::parse(node, reader);
    scales.of_all = of_all.value_or(scales.of_all);
    return of_all ? std::optional(std::move(scales)) : std::nullopt;
  }
  const size_t before = reader.errors().count();
  for (const auto& [column, value, position] : node.entries())
    if (const auto scale = Codec<ColumnScale>::parse(value, reader))
      scales.by_column.emplace_back(column, *scale);
  return reader.errors().count() == before ? std::optional(std::move(scales)) : std::nullopt;
}

ConfigNode Codec<ColumnScales>::dump(const ColumnScales& scales) {
  if (scales.by_column.empty()) return name_of(scales.of_all);
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, scale] : scales.by_column) entries.push_back({column, name_of(scale)});
  return ConfigNode::map(std::move(entries));
}

FieldType Codec<ColumnClips>::type() {
  const FieldType limits = FieldType::list_of(FieldType::number());
  FieldType type =
      FieldType::either({FieldType::number(), FieldType::map_of(limits, "limits by column")}, kWantedClip);
  type.nullable = true;
  return type;
}

std::optional<ColumnClips> Codec<ColumnClips>::parse(const ConfigNode& node, Reader& reader) {
  ColumnClips clips{.position = node.position()};
  if (node.is_null()) return clips;
  const size_t before = reader.errors().count();
  if (node.is_map()) {
    for (const auto& [column, value, position] : node.entries()) {
      const auto limits = Codec<std::pair<double, double>>::parse(value, reader);
      if (!limits) continue;
      if (limits->first >= limits->second)
        reader.fail(value, "the first limit of '" + column + "' must be below the second one");
      clips.by_column.emplace_back(column, *limits);
    }
  } else {
    clips.of_all = Codec<double>::parse(node, reader);
    if (clips.of_all && !(*clips.of_all > 0)) reader.fail(node, "must be " + std::string(kWantedClip));
  }
  return reader.errors().count() == before ? std::optional(std::move(clips)) : std::nullopt;
}

ConfigNode Codec<ColumnClips>::dump(const ColumnClips& clips) {
  if (clips.of_all) return *clips.of_all;
  if (clips.by_column.empty()) return {};
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, limits] : clips.by_column)
    entries.push_back({column, Codec<std::pair<double, double>>::dump(limits)});
  return ConfigNode::map(std::move(entries));
}

NumberScaling::NumberScaling(const ColumnScales& scales, const ColumnClips& clips, const std::string& column)
    : kind_(scales.of_all), limit_(clips.of_all.value_or(kNoLimit)) {
  for (const auto& [name, scale] : scales.by_column)
    if (name == column) kind_ = scale;
  for (const auto& [name, limits] : clips.by_column)
    if (name == column) std::tie(low_, high_) = limits;
}

void NumberScaling::fit(const std::vector<float>& prepared) {
  mean_ = 0;
  factor_ = 1;
  if (kind_ == ColumnScale::kNone) return;
  if (kind_ == ColumnScale::kQuantile) return fit_quantiles(prepared);
  double spread = 0;
  if (kind_ == ColumnScale::kMinMax) {
    const auto [low, high] = std::minmax_element(prepared.begin(), prepared.end());
    mean_ = static_cast<double>(*low);
    spread = static_cast<double>(*high) - mean_;
  } else {
    double sum = 0;
    for (const float x : prepared) sum += static_cast<double>(x);
    mean_ = sum / static_cast<double>(prepared.size());
    double squares = 0;
    for (const float x : prepared)
      squares += (static_cast<double>(x) - mean_) * (static_cast<double>(x) - mean_);
    spread = std::sqrt(squares / static_cast<double>(prepared.size()));
  }
  constexpr double kRounding = 1e-12;  // the mean of equal numbers may differ by rounding
  factor_ = spread > kRounding * std::abs(mean_) ? 1 / spread : 1;
}

/// At most kMaxQuantiles of them, at equal distances between their shares.
void NumberScaling::fit_quantiles(std::vector<float> prepared) {
  std::sort(prepared.begin(), prepared.end());
  const size_t count = std::min(kMaxQuantiles, prepared.size());
  quantiles_.clear();
  for (size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double place = share * static_cast<double>(prepared.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, prepared.size() - 1);
    const auto low = static_cast<double>(prepared[below]);
    quantiles_.push_back(low +
                         (place - static_cast<double>(below)) * (static_cast<double>(prepared[above]) - low));
  }
}

double NumberScaling::normal_score(double x) const {
  constexpr double kEdge = 1e-7;  // of shares, so that the ends stay finite
  if (quantiles_.front() == quantiles_.back()) return 0;
  if (x <= quantiles_.front()) return normal_quantile(kEdge);
  if (x >= quantiles_.back()) return -normal_quantile(kEdge);
  const auto share = [last = static_cast<double>(quantiles_.size() - 1)](size_t i) {
    return static_cast<double>(i) / last;
  };
  // Where many numbers are equal, the middle of their shares.
  const double p = (interpolated(quantiles_, share, x, true) + interpolated(quantiles_, share, x, false)) / 2;
  return normal_quantile(std::clamp(p, kEdge, 1 - kEdge));
}

double NumberScaling::operator()(double prepared) const {
  const double scaled =
      kind_ == ColumnScale::kQuantile ? normal_score(prepared) : (prepared - mean_) * factor_;
  return std::clamp(scaled, -limit_, limit_);
}

void NumberScaling::put_into(State& state) const {
  state.put("mean", mean_);
  state.put("factor", factor_);
  if (kind_ != ColumnScale::kStandardize) state.put("scale", std::string(name_of(kind_)));
  if (!quantiles_.empty()) state.put("quantiles", quantiles_);
  if (low_ > -kNoLimit) state.put("limits", std::vector<double>{low_, high_});
  if (limit_ < kNoLimit) state.put("limit", limit_);
}

NumberScaling NumberScaling::from(const State& state) {
  const auto kind = state.get<std::string>("scale", name_of(ColumnScale::kStandardize));
  NumberScaling scaling;
  const auto known =
      std::find_if(EnumNames<ColumnScale>::kNames.begin(), EnumNames<ColumnScale>::kNames.end(),
                   [&](const auto& one) { return kind == one.first; });
  if (known == EnumNames<ColumnScale>::kNames.end())
    throw CheckpointError("", "unknown scale of a column '" + kind + "'");
  scaling.kind_ = known->second;
  scaling.mean_ = state.get<double>("mean");
  scaling.factor_ = state.get<double>("factor");
  scaling.quantiles_ = state.get<std::vector<double>>("quantiles", {});
  const auto limits = state.get<std::vector<double>>("limits", {-kNoLimit, kNoLimit});
  scaling.limit_ = state.get<double>("limit", kNoLimit);
  const bool has_limits = limits.size() == 2 && limits[0] <= limits[1] && scaling.limit_ >= 0;
  if (!has_limits || (scaling.kind_ == ColumnScale::kQuantile && scaling.quantiles_.empty()))
    throw CheckpointError("", "the limits or quantiles of a column are damaged");
  scaling.low_ = limits[0];
  scaling.high_ = limits[1];
  return scaling;
}

/// An initial value (Abramowitz and Stegun 26.2.23, error 4.5e-4) and two steps of Halley's method.
double normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(std::min(p, 1 - p)));
  double x =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  if (p < 0.5) x = -x;
  for (int step = 0; step < 2; ++step) {
    const double error = std::erfc(-x / std::numbers::sqrt2) / 2 - p;
    const double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return x;
}

}  // namespace tpack
