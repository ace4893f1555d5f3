// engine.memory_mb, `batch_size: auto` and engine.recompute.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "support/tiny_runs.h"

namespace tpack::testing_cli {
namespace {

using testing::HasSubstr;

/// A network whose activations take a megabyte for each sample.
class TrainMemory : public WithTinyRuns {
 protected:
  static Words settings(const Words& more = {}) {
    const std::string data =
        "={FakeData: {shapes: [[64, 64, 4], []], dtype: [uint8, int32], "
        "names: [image, label], size: 400, domain: [0, 3]}}";
    const Words all = {"data.train.0" + data, "data.validation.0" + data,
                       "model.inputs.image.shape=[64, 64, 4]",
                       "model.layers=[{Normalize: {scale: 0.5}}, {Conv2D: {filters: 16}}, BatchNorm, ReLU, "
                       "{Conv2D: {filters: 16}}, "
                       "BatchNorm, ReLU, {Conv2D: {filters: 16}}, BatchNorm, ReLU, "
                       "{FullyConnected: {name: fc, units: 3}}]"};
    Words words;
    for (const std::string& one : joined(all, more)) words.insert(words.end(), {"--set", one});
    return words;
  }
  Outcome check(const Words& more) const {
    return tpack(joined({"check", config(), "--json"}, settings(more)));
  }
  nlohmann::json checked(const Words& more) const {
    const Outcome outcome = check(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
  /// The batch size in the effective config of a run.
  std::string batch_of_run() const {
    const std::string text = content_of(run_folder() + "/config.yaml");
    const std::string key = "batch_size: ";
    const size_t at = text.find(key) + key.size();
    return text.substr(at, text.find('\n', at) - at);
  }
};

TEST_F(TrainMemory, recomputes_with_less_memory) {
  const auto activations = [&](const std::string& recompute) {
    return checked({"data.train.BatchData.batch_size=64", "engine.recompute=" + recompute})
        .at("memory")
        .at("activations")
        .get<double>();
  };
  EXPECT_LT(activations("true"), 0.75 * activations("false"));
}

TEST_F(TrainMemory, is_checked_against_the_limit) {
  const Outcome outcome = check({"data.train.BatchData.batch_size=64", "engine.memory_mb=40"});
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("engine.memory_mb"));
  EXPECT_THAT(outcome.err, HasSubstr("engine.recompute: true"));
  EXPECT_EQ(check({"data.train.BatchData.batch_size=64", "engine.memory_mb=4000"}).code, 0);
}

/// The number of `check` is that of the run, and fits; the next larger one does not.
TEST_F(TrainMemory, gives_the_largest_batch) {
  const Words automatic = {"data.train.BatchData=auto", "engine.memory_mb=150", "max_epoch=1",
                           "steps_per_epoch=1"};
  const auto report = checked(automatic);
  const int64_t batch = report.at("batch");
  EXPECT_GT(batch, 8);
  EXPECT_LT(batch, 400);
  const auto code_with = [&](int64_t size) {
    return check({"data.train.BatchData.batch_size=" + std::to_string(size), "engine.memory_mb=150"}).code;
  };
  EXPECT_EQ(code_with(batch), 0);
  EXPECT_EQ(code_with(batch + 24), 5);
  const Outcome outcome = train(settings(automatic));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("batch_size: auto is " + batch_of_run()));
  EXPECT_NEAR(std::stoi(batch_of_run()), static_cast<double>(batch), 8);
}

TEST_F(TrainMemory, keeps_the_batch_of_a_resumed_run) {
  const Words first = {"data.train.BatchData=auto", "engine.memory_mb=150", "max_epoch=1",
                       "steps_per_epoch=1"};
  ASSERT_EQ(train(settings(first)).code, 0);
  const std::string batch = batch_of_run();
  const Words second = {"data.train.BatchData=auto", "engine.memory_mb=300", "max_epoch=2",
                        "steps_per_epoch=1"};
  const Outcome outcome = train(joined(settings(second), {"--resume", "auto"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(batch_of_run(), batch);
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("batch_size: auto is")));
}

TEST_F(TrainMemory, takes_no_more_samples_than_a_pass_has) {
  EXPECT_EQ(checked({"data.train.BatchData=auto", "engine.memory_mb=100000"}).at("batch"), 400);
}

TEST_F(TrainMemory, takes_what_there_is_of_a_tiny_set) {
  const Words tiny = {"data.train.BatchData=auto", "engine.memory_mb=100000", "data.train.FakeData.size=10"};
  EXPECT_EQ(checked(tiny).at("batch"), 10);
}

TEST_F(TrainMemory, needs_a_limit_for_an_automatic_batch) {
  const Outcome none = check({"data.train.BatchData=auto"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("write engine: {memory_mb: 2000}"));
  const Outcome low = check({"data.train.BatchData=auto", "engine.memory_mb=5"});
  EXPECT_EQ(low.code, 5);
  EXPECT_THAT(low.err,
              HasSubstr("engine.memory_mb, 5.0 MB, less 1 % in reserve, even with a batch of one sample"));
  for (const char* wrong : {"0", "-5", "2GB", "150.5"}) {
    const Outcome outcome = check({"data.train.BatchData=auto", std::string("engine.memory_mb=") + wrong});
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("an integer from 1 on")) << wrong;
  }
}

TEST_F(TrainMemory, rejects_auto_in_other_flows) {
  const Outcome outcome = check({"data.validation.BatchData={batch_size: auto}", "engine.memory_mb=500"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("batch_size: auto is only for data.train"));
}

TEST_F(TrainMemory, ends_before_the_first_step_if_activations_alone_are_too_large) {
  const Outcome outcome = train(settings({"data.train.BatchData.batch_size=64", "engine.memory_mb=30"}));
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("that engine.memory_mb leaves for them next to the variables"));
}

}  // namespace
}  // namespace tpack::testing_cli
