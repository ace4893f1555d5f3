#include "reports/bench_baseline.h"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"
#include "system/file_io.h"

namespace tpack {
namespace {

std::optional<BenchFigure> figure_of(const nlohmann::json& root, const char* name) {
  if (!root.contains(name)) return std::nullopt;
  const nlohmann::json& figure = root.at(name);
  return BenchFigure{figure.at("step_ms").get<double>() / 1e3, figure.at("samples_per_s").get<double>()};
}

[[noreturn]] void reject(const std::string& path, const std::string& why) {
  throw ConfigError("--baseline " + path + ": " + why);
}

using Figure = std::optional<BenchFigure> BenchReport::*;

double median_of(const std::vector<BenchReport>& all, Figure figure) {
  std::vector<double> times;
  for (const BenchReport& report : all) times.push_back((report.*figure)->median_s);
  return median(std::move(times));
}

std::string change(double ratio) { return (ratio < 1 ? "" : "+") + fixed(100 * (ratio - 1), 1) + " %"; }

}  // namespace

BenchReport read_bench(const std::string& path) {
  const std::optional<std::string> text = read_whole_file(path, Reads::kStreams);
  if (!text) reject(path, "there is no such file; write one with `tpack bench CONFIG --json > FILE`");
  try {
    const nlohmann::json root = nlohmann::json::parse(*text);
    BenchReport report;
    report.batch = root.at("batch").get<int64_t>();
    report.towers = root.at("towers").get<int64_t>();
    report.threads = root.at("threads").get<int>();
    report.precision = root.value("precision", report.precision);
    report.hardware = root.value("hardware", "");
    report.train = figure_of(root, "train");
    report.data = figure_of(root, "data");
    report.both = figure_of(root, "both");
    for (const auto& figure : {report.train, report.data, report.both}) {
      if (figure && !(figure->median_s > 0)) reject(path, "a time in it is not above 0");
    }
    return report;
  } catch (const nlohmann::json::exception&) {
    reject(path, "is not what `tpack bench --json` prints");
  }
}

std::vector<ComparedTime> compare_benches(const BenchReport& before, const std::string& path,
                                          const std::vector<BenchReport>& now) {
  const BenchReport& last = now.back();
  const auto same = [&](const char* what, const std::string& then, const std::string& here) {
    if (then != here) reject(path, std::string(what) + " was " + then + ", but is " + here + " now");
  };
  same("the batch", std::to_string(before.batch), std::to_string(last.batch));
  same("the number of towers", std::to_string(before.towers), std::to_string(last.towers));
  same("the precision", before.precision, last.precision);
  same("the number of threads", std::to_string(before.threads), std::to_string(last.threads));
  if (!before.hardware.empty() && !last.hardware.empty())
    same("the hardware", before.hardware, last.hardware);
  std::vector<ComparedTime> times;
  const auto add = [&](const char* what, Figure figure) {
    if (before.*figure && last.*figure)
      times.push_back({what, (before.*figure)->median_s, median_of(now, figure)});
  };
  add("step alone", &BenchReport::train);
  add("step with data", &BenchReport::both);
  if (times.empty()) add("data", &BenchReport::data);
  if (times.empty()) reject(path, "has no time of what this config does");
  return times;
}

std::string comparison_text(const std::vector<ComparedTime>& times, double tolerance) {
  TextTable table({"ms", "baseline", "now", "change", ""});
  for (const ComparedTime& time : times)
    table.add({time.what, fixed(time.before_s * 1e3, 3), fixed(time.now_s * 1e3, 3),
               change(time.now_s / time.before_s), time.is_slower(tolerance) ? "slower" : ""});
  return table.str();
}

}  // namespace tpack
