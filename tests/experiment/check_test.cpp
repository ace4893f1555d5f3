#include "experiment/check.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "reports/model_report.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

TEST(Check, works_out_the_steps_of_an_epoch) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", {}, true);
  EXPECT_EQ(checked.steps_per_epoch(), 10);
  CheckedExperiment given(folder / "tiny.yaml", {"steps_per_epoch=7"}, true);
  EXPECT_EQ(given.steps_per_epoch(), 7);
}

TEST(Check, counts_the_samples_that_a_filter_keeps) {
  const TemporaryFolder folder;
  std::string rows = "x,c\n";
  for (int row = 0; row < 40; ++row) rows += std::to_string(row) + (row % 2 == 0 ? ",a\n" : ",b\n");
  write_content(folder / "train.csv", rows);
  const auto steps = [&](const std::string& maps) {
    write_content(
        folder / "a.yaml",
        "tpack: 1\nmax_epoch: 1\noptimizer: SGD\ndata:\n  train: [CSV: {file: train.csv, columns: {x: "
        "[x]}, labels: {c: c}}, " +
            maps +
            "]\nmodel: {layers: [FullyConnected: {name: fc, input: x, units: 2}], cost: "
            "[SoftmaxCrossEntropy: {logits: fc, labels: c}]}\n");
    return CheckedExperiment(folder / "a.yaml", {}, true).steps_per_epoch();
  };
  EXPECT_EQ(steps("BatchData: 4"), 10);
  EXPECT_EQ(steps("Filter: \"x[0] < 23\", BatchData: 4"), 5);
  EXPECT_EQ(steps("Filter: \"x[0] < 23\", BatchData: {batch_size: 4, remainder: true}"), 6);
  EXPECT_EQ(steps("Filter: \"x[0] < 23\", Filter: c == 'a', Compute: {x: -x}, BatchData: 4"), 3);
  EXPECT_THROW(steps("Filter: \"x[0] < 23\", RepeatedData: 2, BatchData: 4"), ConfigError);
  EXPECT_THROW(steps("RepeatedData: -1, Filter: \"x[0] < 23\", BatchData: 4"), ConfigError);
}

TEST(Check, reports_shapes_parameters_and_memory) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", {}, true);
  const ModelReport report = report_model(checked);
  EXPECT_EQ(report.parameters, 16 * 5 + 5 + 5 * 3 + 3);
  const auto fc0 = std::find_if(report.layers.begin(), report.layers.end(),
                                [](const LayerReport& layer) { return layer.name == "fc0"; });
  ASSERT_NE(fc0, report.layers.end());
  EXPECT_EQ(fc0->spec.str(), "float32 [4, 5]");
  EXPECT_EQ(fc0->parameters, 85);
  EXPECT_EQ(fc0->flops, 2.0 * 4 * 16 * 5);
  EXPECT_GT(report.memory.total(), 0U);
  EXPECT_EQ(report.to_json().at("parameters"), report.parameters);
}

TEST(Check, says_what_each_update_trains) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment plain(folder / "tiny.yaml", {}, true);
  EXPECT_EQ(report_model(plain).str().find("update"), std::string::npos) << "one update trains all";
  CheckedExperiment checked(folder / "tiny.yaml",
                            {"optimizer=!delete", "updates={d: {variables: fc0, optimizer: SGD, every: 2}}"},
                            true);
  const ModelReport report = report_model(checked);
  ASSERT_EQ(report.updates.size(), 1U);
  EXPECT_EQ(report.updates[0].variables, 2U);
  EXPECT_EQ(report.updates[0].parameters, 85);
  EXPECT_EQ(report.frozen, 18);
  EXPECT_NE(report.str().find("none: frozen"), std::string::npos);
  EXPECT_EQ(report.to_json().at("updates").at(0).at("round"), 2);
}

TEST(Check, says_what_is_frozen_and_what_has_another_learning_rate) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment frozen(folder / "tiny.yaml", {"freeze=fc0"}, true);
  EXPECT_EQ(report_model(frozen).frozen, 85);
  EXPECT_NE(report_model(frozen).str().find("none: frozen"), std::string::npos);
  EXPECT_NE(report_model(frozen).str().find("optimizer     cost"), std::string::npos);
  CheckedExperiment rates(folder / "tiny.yaml",
                          {"optimizer={SGD: {learning_rate_multipliers: {\".*/b\": 2, fc0: 0.1}}}"}, true);
  const ModelReport report = report_model(rates);
  ASSERT_EQ(report.rates.size(), 3U);
  EXPECT_EQ(report.rates[0].multiplier, 2);
  EXPECT_EQ(report.rates[0].parameters, 5 + 3);
  EXPECT_EQ(report.rates[1].multiplier, 1);
  EXPECT_EQ(report.rates[1].parameters, 5 * 3);
  EXPECT_EQ(report.rates[2].multiplier, 0.1);
  EXPECT_EQ(report.rates[2].parameters, 16 * 5);
  EXPECT_NE(report.str().find("learning_rate x 0.1"), std::string::npos);
  EXPECT_EQ(report.to_json().at("rates").at(0).at("variables"), 2);
}

TEST(Check, says_nothing_of_steps_and_frozen_parameters_where_nothing_is_trained) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", {"trainer=NoOp", "optimizer=!delete"}, true);
  const std::string text = report_model(checked).str();
  EXPECT_EQ(text.find("frozen"), std::string::npos) << text;
  EXPECT_EQ(text.find("batch x towers"), std::string::npos) << text;
  EXPECT_NE(text.find("parameters"), std::string::npos) << text;
  const testing_cli::Outcome run =
      testing_cli::tpack({"train", folder / "tiny.yaml", "--log-dir", folder / "run", "--set", "trainer=NoOp",
                          "--set", "optimizer=!delete"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err.find("trained variables"), std::string::npos) << run.err;
}

TEST(Check, reads_the_weights_that_a_run_starts_with) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  write_content(folder / "weights.h5", "no checkpoint");
  CheckedExperiment checked(folder / "tiny.yaml", {"init={from: " + (folder / "weights.h5") + "}"}, true);
  EXPECT_THROW(checked.compile(), CheckpointError);
}

/// The parts of what `check` predicts, in bytes.
std::map<std::string, uint64_t> memory_of(const std::vector<std::string>& overrides) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", overrides, true);
  const MemoryReport memory = report_model(checked).memory;
  std::map<std::string, uint64_t> parts;
  for (const auto& [name, bytes] : memory.parts()) parts[name] = bytes;
  return parts;
}

TEST(Check, counts_batches_of_the_queue_and_replicas_of_the_towers) {
  constexpr uint64_t kBatch = 4 * (16 + sizeof(int32_t));
  constexpr uint64_t kVariables = sizeof(float) * (16 * 5 + 5 + 5 * 3 + 3);
  const auto one = memory_of({"input={Queue: {capacity: 7}}"});
  EXPECT_EQ(one.at("batches"), 7 * kBatch);
  EXPECT_GE(one.at("variables"), 3 * kVariables) << "Adam keeps two moments of each";
  EXPECT_GE(one.at("validation or saving"), 3 * kVariables) << "a whole checkpoint";
  const auto two =
      memory_of({"input={Queue: {capacity: 7}}", "trainer={SyncMultiGPU: {devices: [cpu:0, cpu:1]}}"});
  EXPECT_EQ(two.at("batches"), 2 * 7 * kBatch);
  const uint64_t weights_and_gradient = two.at("variables") - one.at("variables");
  EXPECT_GE(weights_and_gradient, 2 * kVariables);
  EXPECT_LT(weights_and_gradient, one.at("variables")) << "one optimizer for both";
  const auto shared =
      memory_of({"trainer={SyncMultiGPU: {devices: [cpu:0, cpu:1], mode: parameter_server}}"});
  EXPECT_LT(shared.at("variables"), two.at("variables"));
  EXPECT_GT(two.at("activations"), one.at("activations"));
  const auto large = memory_of({"data.validation.1.BatchData.batch_size=1000"});
  EXPECT_EQ(large.at("validation or saving"), 4U * 1000 * (16 + sizeof(int32_t)));
}

TEST(Check, without_data_takes_what_they_declare) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  const std::string absent =
      "data.train=[{Mnist: {dir: " + folder.str() + "}}, {BatchData: {batch_size: 4}}]";
  const std::vector<std::string> overrides = {absent, "model.inputs.image.shape=[28, 28, 1]",
                                              "model.layers.fc.units=10"};
  EXPECT_NO_THROW(CheckedExperiment(folder / "tiny.yaml", overrides, false));
  EXPECT_THROW(CheckedExperiment(folder / "tiny.yaml", overrides, true), DataError);
}

}  // namespace
}  // namespace tpack
