// Training of several networks from a config: resume, and the short form against the long one.
#include <array>
#include <cctype>
#include <set>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "support/errors.h"
#include "support/tiny_runs.h"

namespace tpack::testing_cli {
namespace {

void expect_identical(const std::string& a, const std::string& b) {
  EXPECT_EQ(tpack({"ckpt", "diff", a, b}).out, "the contents are identical\n");
}

/// The generator is trained in every third step, so that a checkpoint may be between two of its steps.
constexpr const char* kGan = R"(
tpack: 1
data:
  train:
    - FakeData: {size: 40, shapes: [[4]], names: [x]}
    - BatchData: {batch_size: 4}
model:
  inputs:
    x: {shape: [4]}
  networks:
    generator: [{Repeat: {count: 2, layers: [{FullyConnected: {units: $(6 - i)}}]}}, BatchNorm, ReLU, {FullyConnected: {units: 4}}]
    discriminator: [{FullyConnected: {units: 6, activation: LeakyReLU}}, {Dropout: {rate: 0.2}}, {FullyConnected: {units: 1}}]
  layers:
    - RandomNormal: {name: z, shape: [3]}
    - Call: {name: fake, network: generator, input: z}
    - Call: {name: fake_score, network: discriminator, input: fake}
    - Call: {name: real_score, network: discriminator, input: x}
  costs:
    d: [{SigmoidCrossEntropy: {logits: real_score, labels: 1}}, {SigmoidCrossEntropy: {logits: fake_score, labels: 0}}]
    g: [{SigmoidCrossEntropy: {logits: fake_score, labels: 1}}]
updates:
  d: {cost: d, variables: discriminator, optimizer: {Adam: {learning_rate: 0.01}}}
  g: {cost: g, variables: generator, optimizer: {Momentum: {learning_rate: 0.05}}, every: 3}
engine: {algorithm: heuristic}
steps_per_epoch: 7
max_epoch: 4
callbacks:
  - ModelSaver: {keep: 10}
  - ScheduledHyperParamSetter: {param: g/learning_rate, values: [[2, 0.01]]}
)";

class TrainUpdates : public WithTinyRuns {
 protected:
  TrainUpdates() { write_content(config(), kGan); }
};

TEST_F(TrainUpdates, resumes_bit_exactly) {
  ASSERT_EQ(train({}, "whole").code, 0);
  for (const int epochs : {1, 2, 3}) {  // 7, 14 and 21 steps: after, before and in a step of the generator
    const std::string name = "from_" + std::to_string(epochs);
    ASSERT_EQ(train({"--set", "max_epoch=" + std::to_string(epochs)}, name).code, 0);
    exits(0, train({"--resume", "auto"}, name));
    expect_identical(checkpoint(28, "whole"), checkpoint(28, name));
  }
}

/// The updates of kGan as a GAN, whose networks have one optimizer.
std::string with_gan(const std::string& settings) {
  std::string text = kGan;
  const size_t begin = text.find("updates:");
  const size_t end = text.find("engine:");
  return text.replace(begin, end - begin,
                      "updates: {GAN: {optimizer: {Adam: {learning_rate: 0.01}}" + settings + "}}\n");
}

class TrainGan : public WithTinyRuns, public testing::WithParamInterface<const char*> {
 protected:
  Outcome train_on(const std::string& trainer, const std::vector<std::string>& more,
                   const std::string& name) {
    const Words words = joined({"--set", "trainer=" + trainer}, more);
    return train(words, name);
  }
};

/// Rounds of four steps: 7, 14 and 21 steps are behind each of the others of a round.
TEST_P(TrainGan, resumes_bit_exactly_in_the_middle_of_a_round) {
  write_content(config(), with_gan(", g_period: 3"));
  const std::string trainer = GetParam();
  ASSERT_EQ(train_on(trainer, {}, "whole").code, 0);
  for (const int epochs : {1, 2, 3}) {
    const std::string name = "from_" + std::to_string(epochs);
    ASSERT_EQ(train_on(trainer, {"--set", "max_epoch=" + std::to_string(epochs)}, name).code, 0);
    exits(0, train_on(trainer, {"--resume", "auto"}, name));
    expect_identical(checkpoint(28, "whole"), checkpoint(28, name));
  }
}

TEST_P(TrainGan, has_the_bits_of_its_long_form) {
  const std::string rest = "optimizer: {Adam: {learning_rate: 0.01}}";
  const std::string d = "{d: {cost: d, variables: discriminator, " + rest;
  const std::string g = "}, g: {cost: g, variables: generator, " + rest;
  const std::vector<std::array<std::string, 3>> forms = {{"", ", steps: 1", ", steps: 1"},
                                                         {", g_period: 5", ", steps: 5", ", steps: 1"},
                                                         {", d_period: 2", ", steps: 1", ", steps: 2"},
                                                         {", joint: true", "", ""},
                                                         {", joint: true, g_period: 3", "", ", every: 3"}};
  std::set<std::string> different;
  for (const auto& [settings, of_d, of_g] : forms) {
    SCOPED_TRACE(settings);
    write_content(config(), with_gan(settings));
    ASSERT_EQ(train_on(GetParam(), {"--resume", "never"}, "short").code, 0);
    exits(0, train_on(GetParam(),
                      {"--resume", "never", "--set", "updates.GAN=!delete", "--set",
                       "updates=" + d + of_d + g + of_g + "}}"},
                      "long"));
    expect_identical(checkpoint(28, "short"), checkpoint(28, "long"));
    different.insert(content_of(run_folder("short") + "/stats.json"));
  }
  EXPECT_EQ(different.size(), forms.size()) << "some forms train alike";
}

std::string name_of_trainer(const testing::TestParamInfo<const char*>& trainer) {
  std::string name = trainer.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}
INSTANTIATE_TEST_SUITE_P(On, TrainGan,
                         testing::Values("{Simple: {}}", "{Simple: {accumulate: 2}}",
                                         "{SyncMultiGPU: {devices: [cpu:0, cpu:1]}}",
                                         "{SyncMultiGPU: {devices: 2, mode: parameter_server}}",
                                         "{Horovod: {}}"),
                         name_of_trainer);

TEST_F(WithTinyRuns, a_gan_trains_on_asynchronous_towers) {
  write_content(config(), with_gan(", g_period: 2"));
  exits(0, train({"--set", "trainer={AsyncMultiGPU: {devices: 2}}"}));
  const auto stats = nlohmann::json::parse(content_of(folder_ / "run/stats.json"));
  EXPECT_TRUE(stats.back().contains("d") && stats.back().contains("g")) << stats.back();
}

TEST_F(WithTinyRuns, a_gan_has_a_rate_for_each_network) {
  write_content(config(), with_gan(""));
  ASSERT_EQ(train().code, 0);
  const CheckpointContent content = load_checkpoint(checkpoint(28));
  for (const char* rate : {"d/learning_rate", "g/learning_rate"})
    EXPECT_NEAR(content.tensors.at(layout::kOptimizer + rate).at(0), 0.01, 1e-9) << rate;
}

TEST_F(TrainUpdates, of_one_that_skips_steps_go_on_bit_exactly_too) {
  const std::string one = "updates.d.every=3";
  const auto run = [&](const std::string& name, const std::string& epochs, const std::string& resume) {
    return train({"--set", one, "--set", "callbacks=[ModelSaver: {keep: 10}]", "--set", "updates.g=!delete",
                  "--set", "max_epoch=" + epochs, "--resume", resume},
                 name);
  };
  ASSERT_EQ(run("whole", "2", "never").code, 0);
  ASSERT_EQ(run("resumed", "1", "never").code, 0);
  ASSERT_EQ(run("resumed", "2", "auto").code, 0);
  expect_identical(checkpoint(14, "whole"), checkpoint(14, "resumed"));
}

TEST_F(TrainUpdates, leave_frozen_variables_and_their_averages_alone) {
  const auto run = [&](const std::string& frozen, const std::string& resume) {
    return train({"--set", "freeze=" + frozen, "--resume", resume});
  };
  const std::string frozen = "[discriminator/fully_connected_0, generator/batch_norm_0]";
  ASSERT_EQ(run(frozen, "never").code, 0);
  const CheckpointContent early = load_checkpoint(checkpoint(7));
  const CheckpointContent late = load_checkpoint(checkpoint(28));
  const auto stays = [&](const std::string& name) {
    return bit_equal(early.tensors.at(layout::kModel + name), late.tensors.at(layout::kModel + name));
  };
  for (const char* name : {"discriminator/fully_connected_0/W", "generator/batch_norm_0/gamma",
                           "generator/batch_norm_0/mean/EMA"})
    EXPECT_TRUE(stays(name)) << name;
  for (const char* name : {"discriminator/fully_connected_1/W", "generator/fully_connected_0/W"})
    EXPECT_FALSE(stays(name)) << name;
  EXPECT_FALSE(late.tensors.contains(layout::kOptimizer + "m/discriminator/fully_connected_0/W"));
  const Outcome other = run("[generator/batch_norm_0]", "auto");
  EXPECT_THAT(other.err, testing::HasSubstr("updates that train the same variables"));
  EXPECT_NE(other.code, 0);
}

TEST_F(TrainUpdates, with_multiplied_rates_resume_bit_exactly) {
  const auto run = [&](const std::string& name, const std::string& epochs) {
    return train({"--set", "updates.d.optimizer.Adam.learning_rate_multipliers={\".*/b\": 3}", "--set",
                  "max_epoch=" + epochs, "--resume", "auto"},
                 name);
  };
  ASSERT_EQ(train({}, "plain").code, 0);
  ASSERT_EQ(run("whole", "4").code, 0);
  ASSERT_EQ(run("resumed", "2").code, 0);
  ASSERT_EQ(run("resumed", "4").code, 0);
  expect_identical(checkpoint(28, "whole"), checkpoint(28, "resumed"));
  EXPECT_NE(tpack({"ckpt", "diff", checkpoint(28, "whole"), checkpoint(28, "plain")}).out,
            "the contents are identical\n");
}

TEST_F(TrainUpdates, have_a_rate_each) {
  ASSERT_EQ(train().code, 0);
  const CheckpointContent content = load_checkpoint(checkpoint(28));
  for (const char* rate : {"d/learning_rate", "g/learning_rate"})
    EXPECT_NEAR(content.tensors.at(layout::kOptimizer + rate).at(0), 0.01, 1e-9) << rate;
  EXPECT_TRUE(content.tensors.contains(layout::kOptimizer + "m/discriminator/fully_connected_0/W"));
  EXPECT_TRUE(
      content.tensors.contains(layout::kOptimizer + "momentum/generator/repeat_0/1/fully_connected_0/W"));
}

TEST_F(TrainUpdates, of_other_optimizers_are_not_resumed) {
  ASSERT_EQ(train().code, 0);
  const Outcome other =
      exits(2, train({"--resume", "auto", "--set", "updates.g.optimizer={SGD: {learning_rate: 0.1}}"}));
  EXPECT_TRUE(says(other.err, {"g with Momentum", "g with SGD"}));
}

TEST_F(TrainUpdates, may_run_in_another_order_after_a_resume) {
  ASSERT_EQ(train({"--set", "max_epoch=1"}).code, 0);
  std::string swapped = kGan;
  const size_t d = swapped.find("  d: {cost: d, variables");
  const size_t g = swapped.find("  g: {cost: g, variables");
  const size_t end = swapped.find("engine:");
  swapped =
      swapped.substr(0, d) + swapped.substr(g, end - g) + swapped.substr(d, g - d) + swapped.substr(end);
  write_content(config(), swapped);
  const Outcome outcome = exits(0, train({"--resume", "auto"}));
  EXPECT_TRUE(says(outcome.err, {"in the order d, g, now they are in the order g, d"}));
}

TEST_F(TrainUpdates, that_diverge_name_the_cost_or_the_variable) {
  const auto of_rate = [&](const std::string& update, const std::string& optimizer) {
    return train({"--resume", "never", "--set",
                  "updates." + update + ".optimizer={" + optimizer + ": {learning_rate: 1.0e+38}}"});
  };
  const Outcome d = exits(6, of_rate("d", "SGD"));
  EXPECT_THAT(d.err, testing::ContainsRegex(
                         "the gradient of update [dg] is not finite and was not applied: layer 'fake_score/.*"
                         " has (-?nan|-?inf) at"));
  const Outcome g = exits(6, of_rate("g", "Adam"));
  EXPECT_THAT(
      g.err, testing::ContainsRegex(
                 "(the gradient of update [dg] is|optimizer slot [mv] of variable|variable [a-z]*/.* has) "));
}

/// The generator has its turn in every third step, which its weights tell.
TEST_F(TrainUpdates, show_gradients_only_in_the_steps_that_compute_them) {
  const std::string weight = "generator/fully_connected_0/W";
  const std::string other = "discriminator/fully_connected_0/W";
  const std::string gradients = "gradients: [" + weight + ", " + other + "]";
  ASSERT_EQ(train({"--set", "callbacks=[DumpTensors: {variables: [" + weight + "], " + gradients +
                                "}, TensorSummary: {" + gradients + ", types: [rms]}]"})
                .code,
            0);
  std::set<int64_t> turns;
  Tensor before;
  for (int64_t step = 1; step <= 28; ++step) {
    const std::string number = (step < 10 ? "0" : "") + std::to_string(step);
    const CheckpointContent file = load_checkpoint(run_folder() + "/tensors/step-0000000" + number + ".h5");
    const Tensor now = file.tensors.at("variable/" + weight);
    const bool has_gradient = file.tensors.contains("gradient/" + weight);
    EXPECT_TRUE(file.tensors.contains("gradient/" + other)) << step;
    if (step > 1) {
      EXPECT_EQ(has_gradient, !bit_equal(now, before)) << step;
    }
    if (has_gradient) turns.insert(step);
    before = now;
  }
  EXPECT_GE(turns.size(), 9U);
  EXPECT_LE(turns.size(), 10U);
  const auto stats = nlohmann::json::parse(content_of(run_folder() + "/stats.json"));
  ASSERT_EQ(stats.size(), 4U);
  for (const auto& epoch : stats) {
    const bool is_turn = turns.contains(epoch.at("global_step").get<int64_t>());
    EXPECT_EQ(epoch.contains("gradient/" + weight + "-rms"), is_turn) << epoch;
    EXPECT_TRUE(epoch.contains("gradient/" + other + "-rms")) << epoch;
  }
}

/// A renamed cost has no earlier value: its column is empty, not NaN, until its update runs.
TEST_F(TrainUpdates, leave_out_statistics_that_no_step_has_computed) {
  ASSERT_EQ(train({"--set", "max_epoch=1"}).code, 0);
  std::string renamed = kGan;
  renamed.replace(renamed.find("    g: [{Sig"), 6, "    gen:");
  renamed.replace(renamed.find("{cost: g,"), 9, "{cost: gen,");
  write_content(config(), renamed);
  exits(0, train({"--resume", "auto", "--set", "updates.g.every=1000", "--set", "max_epoch=2"}));
  const auto stats = nlohmann::json::parse(content_of(folder_ / "run/stats.json"));
  EXPECT_TRUE(stats.back().contains("d")) << stats.back();
  EXPECT_FALSE(stats.back().contains("gen")) << stats.back();
}

TEST_F(TrainUpdates, take_the_place_of_the_optimizer) {
  const Outcome both = exits(2, train({"--set", "optimizer={SGD: {learning_rate: 0.1}}"}));
  EXPECT_THAT(both.err, testing::HasSubstr("'updates': 'optimizer' is also set"));
}

/// The weights after training, without the path that a network adds to their names.
std::map<std::string, Tensor> weights_of(const std::string& checkpoint, const std::string& network = "") {
  std::map<std::string, Tensor> weights;
  for (const auto& [name, value] : load_checkpoint(checkpoint).tensors) {
    if (name.starts_with(layout::kModel + network))
      weights[name.substr(layout::kModel.size() + network.size())] = value;
  }
  return weights;
}

void expect_same_bits(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (const auto& [name, value] : a) {
    ASSERT_TRUE(b.contains(name)) << name;
    EXPECT_TRUE(bit_equal(value, b.at(name))) << name;
  }
}

TEST_F(WithTinyRuns, the_long_form_of_cost_and_optimizer_has_the_bits_of_the_short_one) {
  ASSERT_EQ(train({}, "short").code, 0);
  std::string text = kTinyConfig;
  const auto replace = [&text](const std::string& old, const std::string& with) {
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), with);
  };
  replace("  cost:\n    - ", "  costs:\n    cost:\n    - ");
  replace("optimizer:\n  Adam: {learning_rate: 0.01}",
          "updates: {all: {optimizer: {Adam: {learning_rate: 0.01}}}}");
  write_content(config(), text);
  exits(0, train({}, "long"));
  expect_same_bits(weights_of(checkpoint(20, "short")), weights_of(checkpoint(20, "long")));
}

/// Initial values are drawn by name, so both start with those of a third run; Dropout draws by place.
TEST_F(WithTinyRuns, a_network_that_is_called_once_has_the_bits_of_its_layers) {
  ASSERT_EQ(train({"--set", "max_epoch=1"}, "first").code, 0);
  const std::string from = "init={from: " + checkpoint(10, "first");
  ASSERT_EQ(train({"--set", "model.layers.Dropout.rate=0", "--set", from + "}"}, "layers").code, 0);
  exits(0, train({"--set",
                  "model.networks={net: [{Normalize: {scale: 0.5}}, {FullyConnected: {name: fc0, units: 5, "
                  "activation: "
                  "ReLU}}, {FullyConnected: {name: fc, units: 3}}]}",
                  "--set", "model.layers=[{Call: {name: fc, network: net}}]", "--set",
                  from + ", rename: {fc0/W: net/fc0/W, fc0/b: net/fc0/b, fc/W: net/fc/W, fc/b: net/fc/b}}"},
                 "network"));
  expect_same_bits(weights_of(checkpoint(20, "layers")), weights_of(checkpoint(20, "network"), "net/"));
}

}  // namespace
}  // namespace tpack::testing_cli
