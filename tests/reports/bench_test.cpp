#include "reports/bench.h"

#include <algorithm>
#include <set>

#include <gmock/gmock-more-matchers.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "reports/model_report.h"
#include "support/errors.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

/// A trainer that delegates all work to another one and does not report its programs.
class Forwarding final : public Trainer, public StepData, public TrainedModel {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Gives all work to Simple."); }
  explicit Forwarding(Params /*none*/) : inner_(Registry<Trainer>::make("Simple")) {}

  void setup(const TrainSetup& setup) override { inner_->setup(setup); }
  void compile() override { inner_->compile(); }
  void initialize() override { inner_->initialize(); }
  bool step(int64_t step, const std::stop_token& stop) override { return inner_->step(step, stop); }
  std::optional<int64_t> steps_per_pass() const override { return inner_->part<StepData>().steps_per_pass(); }
  StepSize step_size() const override { return inner_->part<StepData>().step_size(); }
  std::optional<ModelHandle> model_handle() override { return inner_->part<TrainedModel>().model_handle(); }
  int64_t samples() const override { return inner_->part<StepData>().samples(); }
  void save(CheckpointContent& content) const override { inner_->save(content); }
  void load(const CheckpointContent& content, const std::string& source) override {
    inner_->load(content, source);
  }

 private:
  std::unique_ptr<Trainer> inner_;
};

TPACK_REGISTER(Trainer, Forwarding, "Forwarding");

class Bench : public testing_cli::WithTinyConfig {
 protected:
  std::string with_trainer(const std::string& trainer) const {
    write_content(config(), kTinyConfig + ("trainer: " + trainer + "\n"));
    return config();
  }
};

TEST_F(Bench, of_data_without_a_model_times_the_data) {
  write_content(
      folder_ / "data.yaml",
      "tpack: 1\ndata: {train: [FakeData: {shapes: [[3]], names: [x], size: 100}, BatchData: 10]}\n");
  Experiment experiment = load_experiment(folder_ / "data.yaml", {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  EXPECT_EQ(report.batch, 10);
  EXPECT_GT(report.data.value().samples_per_s, 0);
  EXPECT_FALSE(report.train || report.both);
  EXPECT_THAT(report.str(), testing::HasSubstr("data alone"));
  EXPECT_FALSE(nlohmann::json::parse(report.to_json()).contains("both"));
  EXPECT_THROW(bench(experiment, {.steps = 2, .trace = folder_ / "trace.json"}), ConfigError);
}

TEST_F(Bench, times_what_any_trainer_trains) {
  Experiment experiment = load_experiment(with_trainer("Forwarding"), {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  EXPECT_EQ(report.towers, 1);
  EXPECT_GT(report.batch, 0);
  for (const BenchFigure& figure : {report.train.value(), report.data.value(), report.both.value()}) {
    EXPECT_GT(figure.median_s, 0);
    EXPECT_GT(figure.samples_per_s, 0);
  }
  EXPECT_THAT(report.nodes, testing::IsEmpty());
  EXPECT_THAT(report.str(), testing::Not(testing::HasSubstr("GFLOP/s")));
}

TEST_F(Bench, leaves_out_data_that_the_model_makes) {
  Experiment experiment = load_experiment(source_folder() + "/configs/cartpole-dqn.yaml", {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  EXPECT_FALSE(report.data);
  EXPECT_GT(report.train.value().samples_per_s, 0);
  EXPECT_GT(report.both.value().samples_per_s, 0);
}

TEST_F(Bench, names_every_program_and_the_first_statistic) {
  Experiment experiment = load_experiment(with_trainer("Simple"), {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  std::set<std::string> programs;
  for (const NodeCost& node : report.nodes) programs.insert(node.program);
  EXPECT_THAT(programs, testing::ElementsAre("backward", "update"));
  EXPECT_EQ(report.figure, "cost");
}

TEST_F(Bench, compares_each_node_with_the_limits_of_the_machine) {
  Experiment experiment = load_experiment(with_trainer("Simple"), {});
  const BenchReport report = bench(experiment, {.steps = 2, .warm_up = 1});
  const MachineLimits limits = report.limits.value();
  double all_s = 0;
  for (const NodeCost& node : report.nodes) {
    const KernelCost& cost = node.cost;
    EXPECT_GT(cost.bytes, 0) << node.path;
    const double arithmetic_s = cost.flops / limits.flops_per_s;
    const double memory_s = cost.bytes / limits.bytes_per_s;
    EXPECT_DOUBLE_EQ(cost.limit_s(), std::max(arithmetic_s, memory_s)) << node.path;
    EXPECT_DOUBLE_EQ(cost.share() * cost.seconds, cost.limit_s()) << node.path;
    EXPECT_STREQ(cost.limit(), arithmetic_s > memory_s ? "arithmetic" : "memory") << node.path;
    EXPECT_TRUE(cost.flops > 0 || cost.limit() == std::string("memory")) << node.path;
    all_s += cost.limit_s();
  }
  double kinds_s = 0;
  for (const NodeKindTime& kind : report.kinds) kinds_s += kind.cost.limit_s();
  EXPECT_NEAR(kinds_s, all_s, 1e-9 * all_s);
  EXPECT_TRUE(says(report.str(), {"limits of this machine", "GFLOP/s in matrix products", "% memory"}));
  const nlohmann::json root = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(root.at("limits").at("bytes_per_s"), limits.bytes_per_s);
  for (const char* list : {"kinds", "nodes"}) {
    for (const nlohmann::json& row : root.at(list)) {
      EXPECT_GT(row.at("bytes"), 0);
      EXPECT_DOUBLE_EQ(row.at("share"), row.at("limit_ms").get<double>() / row.at("ms").get<double>());
      EXPECT_THAT(row.at("limit"), testing::AnyOf("arithmetic", "memory"));
    }
  }
}

TEST_F(Bench, adds_up_the_work_of_all_batches_of_a_step) {
  const auto flops = [&](const std::string& trainer) {
    Experiment experiment = load_experiment(with_trainer(trainer), {});
    double sum = 0;
    for (const NodeCost& node : bench(experiment, {.steps = 2, .warm_up = 1}).nodes) sum += node.cost.flops;
    return sum;
  };
  EXPECT_EQ(flops("{Simple: {accumulate: 3}}"), 3 * flops("Simple"));
}

TEST_F(Bench, counts_the_samples_that_a_batch_has) {
  Experiment experiment = load_experiment(
      with_trainer("Simple"), {"data.train.BatchData={batch_size: 100, remainder: true}"});  // of 40 samples
  const BenchReport report = bench(experiment, {.steps = 3, .warm_up = 0});
  for (const BenchFigure& figure : {report.train.value(), report.data.value(), report.both.value()}) {
    EXPECT_NEAR(figure.samples_per_s * figure.median_s, 40, 1e-6);
  }
}

class BenchBaseline : public Bench {
 protected:
  int bench_with(const std::vector<std::string>& more, const std::string& change = "max_epoch=1") {
    std::vector<std::string> command = {
        "bench", with_trainer("Simple"), "--set", change, "--steps", "2", "--warm-up", "1"};
    command.insert(command.end(), more.begin(), more.end());
    outcome_ = testing_cli::tpack(command);
    return outcome_.code;
  }
  /// A file of --json with other times of a step.
  std::string baseline(double factor) {
    EXPECT_EQ(bench_with({"--json"}), 0);
    nlohmann::json root = nlohmann::json::parse(outcome_.out);
    for (const char* figure : {"train", "both"})
      root[figure]["step_ms"] = root[figure]["step_ms"].get<double>() * factor;
    write_content(folder_ / "base.json", root.dump());
    return folder_ / "base.json";
  }
  testing_cli::Outcome outcome_;
};

TEST_F(BenchBaseline, passes_a_step_that_is_faster_and_refuses_a_slower_one) {
  ASSERT_EQ(bench_with({"--baseline", baseline(1e6)}), 0) << outcome_.err;
  EXPECT_TRUE(says(outcome_.out, {"step alone", "step with data", "-100.0 %"}));
  EXPECT_EQ(bench_with({"--baseline", baseline(1e-6), "--tolerance", "50%"}), 8);
  EXPECT_TRUE(says(outcome_.out, {"slower"}));
  EXPECT_TRUE(says(outcome_.err, {"more than 50 % slower", "base.json", "median of 3"}));
  EXPECT_EQ(bench_with({"--baseline", baseline(1e-3), "--tolerance", "100000000000"}), 0) << outcome_.err;
}

TEST_F(BenchBaseline, must_be_of_the_same_kind_of_step) {
  const std::string path = baseline(1);
  EXPECT_EQ(bench_with({"--baseline", path}, "data.train.BatchData={batch_size: 5}"), 2);
  EXPECT_TRUE(says(outcome_.err, {"base.json", "the batch was", "is 5 now"}));
  EXPECT_EQ(bench_with({"--baseline", path, "--precision", "fp16"}), 2);
  EXPECT_TRUE(says(outcome_.err, {"base.json", "the precision was fp32", "is fp16 now"}));
  nlohmann::json root = nlohmann::json::parse(content_of(path));
  root["hardware"] = "another one";
  write_content(path, root.dump());
  EXPECT_EQ(bench_with({"--baseline", path}), 2);
  EXPECT_TRUE(says(outcome_.err, {"the hardware was another one"}));
  for (const char* text :
       {"", "{}", "[1]", "{\"batch\": \"a\"}",
        R"({"batch": 1, "towers": 1, "threads": 1, "both": {"step_ms": 0, "samples_per_s": 1}})"}) {
    write_content(path, text);
    EXPECT_EQ(bench_with({"--baseline", path}), 2) << text;
    EXPECT_TRUE(says(outcome_.err, {"base.json"})) << text;
  }
  EXPECT_EQ(bench_with({"--baseline", folder_ / "none.json"}), 2);
  EXPECT_TRUE(says(outcome_.err, {"none.json", "--json"}));
  EXPECT_EQ(bench_with({"--tolerance", "5"}), 2) << "without --baseline";
  EXPECT_EQ(bench_with({"--baseline", path, "--simulate-allreduce"}), 2);
}

TEST_F(BenchBaseline, is_not_needed_to_trace_a_step) {
  ASSERT_EQ(bench_with({"--json", "--nodes", "1000"}), 0) << outcome_.err;
  const nlohmann::json without = nlohmann::json::parse(outcome_.out);
  const std::string path = folder_ / "trace.json";
  write_content(path, "old");
  ASSERT_EQ(bench_with({"--json", "--nodes", "1000", "--trace", path}), 0) << outcome_.err;
  const nlohmann::json root = nlohmann::json::parse(outcome_.out);
  const nlohmann::json trace = nlohmann::json::parse(content_of(path));
  std::multiset<std::string> nodes;
  for (const nlohmann::json& node : root.at("nodes")) nodes.insert(node.at("path"));
  std::multiset<std::string> traced;
  int steps = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const bool is_step = event.at("cat") == "step";
    steps += is_step ? 1 : 0;
    if (!is_step) traced.insert(event.at("name"));
  }
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(traced, nodes);
  for (const auto& [key, value] : without.items()) EXPECT_TRUE(root.contains(key)) << key;
  EXPECT_EQ(root.size(), without.size());

  EXPECT_EQ(bench_with({"--trace", folder_ / "none/trace.json"}), 2);
  EXPECT_TRUE(says(outcome_.err, {"--trace", "no such folder", "none"}));
  EXPECT_EQ(bench_with({"--trace", folder_ / ""}), 2);
  EXPECT_TRUE(says(outcome_.err, {"is a folder"}));
  EXPECT_EQ(bench_with({"--trace", path, "--compare", "fp32"}), 2);
  EXPECT_EQ(bench_with({"--trace", path, "--simulate-allreduce"}), 2);
}

TEST_F(BenchBaseline, is_not_needed_to_compare_precisions) {
  ASSERT_EQ(bench_with({"--compare", "fp16,fp32", "--json"}), 0) << outcome_.err;
  const nlohmann::json root = nlohmann::json::parse(outcome_.out);
  EXPECT_EQ(root.at("batch"), 4);
  const nlohmann::json& rows = root.at("precisions");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("precision"), "fp16");
  EXPECT_EQ(rows[1].at("precision"), "fp32");
  EXPECT_EQ(rows[0].at("times_first"), 1);
  for (const nlohmann::json& row : rows)
    EXPECT_NEAR(row.at("samples_per_s").get<double>() * row.at("step_ms").get<double>(), 4000, 1);
  EXPECT_NEAR(rows[1].at("times_first").get<double>() * rows[1].at("step_ms").get<double>(),
              rows[0].at("step_ms").get<double>(), 1e-6);
  EXPECT_EQ(bench_with({"--compare", "fp32,fp16"}), 0);
  EXPECT_TRUE(says(outcome_.out, {"times fp32", "medians of 3 benches in turn"}));
  EXPECT_EQ(bench_with({"--compare", "fp32,half"}), 2);
  EXPECT_TRUE(says(outcome_.err, {"half", "bf16"}));
  EXPECT_EQ(bench_with({"--compare", "fp32", "--precision", "bf16"}), 2);
}

TEST_F(BenchBaseline, is_not_needed_for_predictions) {
  ASSERT_EQ(bench_with({"--predict", "--json", "--set", "data.train.BatchData.batch_size=6"}), 0)
      << outcome_.err;
  const nlohmann::json root = nlohmann::json::parse(outcome_.out);
  EXPECT_EQ(root.at("batch"), 6);
  EXPECT_NEAR(root.at("samples_per_s").get<double>() * root.at("prediction_ms").get<double>(), 6000, 1);
  EXPECT_GT(root.at("peak_rss_mb").get<double>(), 1);
  EXPECT_EQ(bench_with({"--predict"}), 0);
  EXPECT_TRUE(says(outcome_.out, {"batch", "samples/s", "fp32"}));
  EXPECT_EQ(bench_with({"--predict", "--set", "predict.outputs=null"}), 2);
  EXPECT_TRUE(says(outcome_.err, {"--predict", "predict={data: train, outputs: [LAYER]}"}));
  EXPECT_EQ(bench_with({"--predict", "--compare", "fp32"}), 2);
  EXPECT_EQ(bench_with({"--predict", "--trace", folder_ / "trace.json"}), 2);
}

TEST_F(Bench, and_check_describe_what_any_trainer_trains) {
  CheckedExperiment checked(with_trainer("Forwarding"), {}, true);
  EXPECT_GT(report_model(checked).parameters, 0);
}

}  // namespace
}  // namespace tpack
