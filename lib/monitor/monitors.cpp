#include "monitor/monitors.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr std::string_view kTower = "tower";
constexpr std::string_view kSummarySuffix = "-summary";

std::string shown_name(std::string_view name) {
  if (name.starts_with(kTower)) {
    size_t at = kTower.size();
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) ++at;
    if (at > kTower.size() && at < name.size() && name[at] == '/') name.remove_prefix(at + 1);
  }
  if (name.ends_with(kSummarySuffix)) name.remove_suffix(kSummarySuffix.size());
  return std::string(name);
}

/// JSON has no NaN and no infinities, so they are strings.
nlohmann::json to_json_value(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double from_json_value(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

}  // namespace

bool differs_between_runs(std::string_view name) {
  return name.ends_with("_s") || name.ends_with("_gb") || name.ends_with("_utilization") ||
         name == "input_queue_fill" || name.find("_time_") != std::string_view::npos;
}

void Monitors::each(const std::function<void(Monitor&)>& act) {
  for (const auto& monitor : monitors_) {
    try {
      act(*monitor);
    } catch (const ResourceError& failure) {
      log::error(failure.what());
    }
  }
}

void Monitors::open(RunRecord run) {
  if (run.resumed) run.history = records_.records();
  each([&](Monitor& m) { m.open(run); });
}

void Monitors::add(Series& series, const StepStamp& at, double value) {
  series.values.emplace_back(at.global_step, value);
  if (!series.last.empty()) series.earlier += series.last + ",";
  series.last = nlohmann::json{at.global_step, to_json_value(value), at.epoch}.dump();
}

void Monitors::put_scalar(const std::string& name, double value) {
  const std::string shown = shown_name(name);
  Series& series = series_[shown];
  if (!before_phase_.contains(shown)) {
    before_phase_[shown] = {.values = series.values.size(),
                            .value = series.values.empty() ? 0 : series.values.back().second,
                            .earlier = series.earlier.size(),
                            .last = series.last};
  }
  if (!records_.put(shown, value, now_)) {
    series.values.pop_back();
    series.last.clear();
  }
  add(series, now_, value);
  has_values_ = true;
  each([&](Monitor& m) { m.put_scalar(shown, value, now_); });
}

void Monitors::undo_phase() {
  for (const auto& [name, end] : before_phase_) {
    Series& series = series_.at(name);
    series.values.resize(end.values);
    if (end.values > 0) series.values.back().second = end.value;
    series.earlier.resize(end.earlier);
    series.last = end.last;
  }
}

void Monitors::put_image(const std::string& name, const Tensor& image) {
  each([&](Monitor& m) { m.put_image(shown_name(name), image, now_); });
}

void Monitors::put_histogram(const std::string& name, const Histogram& histogram) {
  each([&](Monitor& m) { m.put_histogram(shown_name(name), histogram, now_); });
}

void Monitors::put_text(const std::string& name, const std::string& text) {
  each([&](Monitor& m) { m.put_text(shown_name(name), text, now_); });
}

void Monitors::end_step() {
  if (!has_values_) return;
  has_values_ = false;
  each([&](Monitor& m) { m.end_step(now_); });
}

void Monitors::end_epoch() {
  has_values_ = false;
  each([&](Monitor& m) { m.end_epoch(now_); });
}

void Monitors::close() {
  each([](Monitor& m) { m.close(); });
}

std::optional<double> Monitors::get_latest(const std::string& name) const {
  const History& history = get_history(name);
  return history.empty() ? std::nullopt : std::optional(history.back().second);
}

const Monitors::History& Monitors::get_history(const std::string& name) const {
  static const History kNone;
  const auto found = series_.find(name);
  return found == series_.end() ? kNone : found->second.values;
}

std::vector<std::string> Monitors::names() const {
  std::vector<std::string> all;
  for (const auto& [name, series] : series_) all.push_back(name);
  return all;
}

std::string Monitors::save() const {
  std::string text;
  for (const std::string& name : records_.names()) {
    const Series& series = series_.at(name);
    if (series.values.empty()) continue;
    text += text.empty() ? "{" : ",";
    text += nlohmann::json(name).dump() + ":[" + series.earlier + series.last + "]";
  }
  return text.empty() ? "{}" : text + "}";
}

void Monitors::load(const std::string& text, const std::string& source) {
  std::map<std::pair<int64_t, int64_t>, StatRecord> records;  // by step and epoch
  std::map<std::string, Series> all_series;
  try {
    const auto all = nlohmann::ordered_json::parse(text);
    for (const auto& [name, values] : all.items()) {
      for (const auto& value : values) {
        const StepStamp at{value.at(2).get<int64_t>(), value.at(0).get<int64_t>()};
        StatRecord& record = records[{at.global_step, at.epoch}];
        record.at = at;
        record.scalars.emplace_back(name, from_json_value(value.at(1)));
        add(all_series[name], at, record.scalars.back().second);
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(source, std::string("the history of the monitors is damaged: ") + error.what());
  }
  std::vector<StatRecord> in_order;
  for (auto& [moment, record] : records) in_order.push_back(std::move(record));
  records_ = StatTable(std::move(in_order));
  series_ = std::move(all_series);
}

}  // namespace tpack
