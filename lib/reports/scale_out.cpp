#include "reports/scale_out.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

ScaleOutReport predict_scale_out(Experiment& experiment, const BenchOptions& options,
                                 const ScaleOutOptions& network) {
  constexpr double kBytesPerMb = 1 << 20;
  constexpr double kBitsPerGbit = 1e9;
  constexpr int kMaxNodes = 256;
  ScaleOutReport report;
  report.profile = profile_step(experiment, options, static_cast<int64_t>(network.bucket_mb * kBytesPerMb),
                                network.compressed ? 2 : 4);
  report.link = {network.gbit_per_s * kBitsPerGbit / 8, network.latency_ms / 1e3};
  const StepSize size = experiment.trainer->part<StepData>().step_size();
  const auto samples = static_cast<double>(size.batch * size.batches());
  const double alone = predicted_step_s(report.profile, report.link, 1);
  for (int nodes = 1; nodes <= kMaxNodes; nodes *= 2) {
    const double step = predicted_step_s(report.profile, report.link, nodes);
    report.rows.push_back({nodes, step, nodes * samples / step, alone / step});
  }
  return report;
}

std::string ScaleOutReport::str() const {
  double bytes = 0;
  for (const StepProfile::Bucket& bucket : profile.buckets) bytes += bucket.bytes;
  std::string text = "one node: backward ends after " + number("%.3f", profile.backward_s * 1e3) +
                     " ms, the update takes " + number("%.3f", profile.update_s * 1e3) + " ms; " +
                     std::to_string(profile.buckets.size()) + " buckets, " + number("%.2f", bytes / 1e6) +
                     " MB, the first is ready after " + number("%.3f", profile.buckets[0].ready_s * 1e3) +
                     " ms\nnetwork: " + number("%.4g", link.bytes_per_s * 8 / 1e9) + " Gbit/s, " +
                     number("%.4g", link.latency_s * 1e3) + " ms\n\n";
  TextTable table({"nodes", "ms per step", "samples/s", "efficiency"});
  for (const Row& row : rows) {
    table.add({std::to_string(row.nodes), number("%.3f", row.step_s * 1e3),
               with_thousands(static_cast<int64_t>(row.samples_per_s)),
               number("%.1f %%", 100 * row.efficiency)});
  }
  return text + table.str();
}

std::string ScaleOutReport::to_json() const {
  nlohmann::ordered_json root = {
      {"backward_ms", profile.backward_s * 1e3},    {"update_ms", profile.update_s * 1e3},
      {"sum_bytes_per_s", profile.sum_bytes_per_s}, {"bytes_per_s", link.bytes_per_s},
      {"latency_ms", link.latency_s * 1e3},         {"buckets", nlohmann::ordered_json::array()},
      {"nodes", nlohmann::ordered_json::array()}};
  for (const StepProfile::Bucket& bucket : profile.buckets)
    root["buckets"].push_back({{"ready_ms", bucket.ready_s * 1e3}, {"bytes", bucket.bytes}});
  for (const Row& row : rows) {
    root["nodes"].push_back({{"nodes", row.nodes},
                             {"step_ms", row.step_s * 1e3},
                             {"samples_per_s", row.samples_per_s},
                             {"efficiency", row.efficiency}});
  }
  return root.dump(1);
}

}  // namespace tpack
