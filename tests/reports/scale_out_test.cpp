#include "reports/scale_out.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

class ScaleOut : public testing_cli::WithTinyConfig {
 protected:
  ScaleOutReport predict(const ScaleOutOptions& network) const {
    Experiment experiment = load_experiment(config(), {});
    return predict_scale_out(experiment, {.steps = 5, .warm_up = 1}, network);
  }
};

TEST_F(ScaleOut, measures_a_step_and_predicts_it_up_to_256_nodes) {
  const ScaleOutReport report = predict({.gbit_per_s = 1, .latency_ms = 1, .bucket_mb = 0.0001});
  EXPECT_EQ(report.profile.buckets.size(), 2U) << "of four variables; the weights of fc are small";
  double bytes = 0;
  double ready = 0;
  for (const StepProfile::Bucket& bucket : report.profile.buckets) {
    EXPECT_GE(bucket.ready_s, ready);
    ready = bucket.ready_s;
    bytes += bucket.bytes;
  }
  EXPECT_EQ(bytes, 4 * (80 + 16 + 16 + 16)) << "16 * 5, 5, 5 * 3 and 3 elements, padded";
  EXPECT_GT(report.profile.update_s, 0);
  ASSERT_EQ(report.rows.size(), 9U);
  EXPECT_EQ(report.rows.back().nodes, 256);
  EXPECT_EQ(report.rows[0].efficiency, 1);
  for (size_t i = 1; i < report.rows.size(); ++i) {
    EXPECT_GT(report.rows[i].step_s, report.rows[i - 1].step_s);
    EXPECT_LT(report.rows[i].efficiency, 1);
  }
  EXPECT_THAT(report.str(), testing::HasSubstr("2 buckets"));
  const auto root = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(root["nodes"].size(), 9U);
  EXPECT_EQ(root["latency_ms"], 1);
}

TEST_F(ScaleOut, halves_the_bytes_if_they_are_compressed) {
  const ScaleOutReport exact = predict({});
  const ScaleOutReport compressed = predict({.compressed = true});
  EXPECT_EQ(compressed.profile.buckets[0].bytes, exact.profile.buckets[0].bytes / 2);
}

}  // namespace
}  // namespace tpack
