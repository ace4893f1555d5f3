#include "optim/optimizer.h"

#include <cmath>

#include <gmock/gmock-more-matchers.h>

#include "optim/updates.h"
#include "support/graph_text.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// One parameter and what its optimizer stores, as a formula for one step.
struct Scalar {
  double p = 0.7;
  double slot = 0;
  double second = 0;
};
using Recurrence = std::function<void(Scalar& s, double gradient, int step)>;

/// Gradients that change size and sign.
double gradient_at(int step, int element) { return std::sin(0.7 * step + element) + 0.2; }

/// Runs 50 steps and compares each element with the recurrence after each.
void expect_follows(const std::string& yaml, const Recurrence& recurrence, double scale, Backend backend) {
  const double tolerance = backend == Backend::kCpu ? 2e-6 : 1e-12;
  Updates updates(yaml, scale, backend);
  std::vector<Scalar> expected(3);
  for (int i = 0; i < 3; ++i) updates.set("a", i, expected[static_cast<size_t>(i)].p);
  for (int step = 1; step <= 50; ++step) {
    for (int i = 0; i < 3; ++i) {
      updates.set("@gradient/a", i, gradient_at(step, i));
      recurrence(expected[static_cast<size_t>(i)], scale * gradient_at(step, i), step);
    }
    updates.run();
    for (int i = 0; i < 3; ++i)
      ASSERT_NEAR(updates.value("a", i), expected[static_cast<size_t>(i)].p, tolerance) << yaml << step;
  }
  EXPECT_EQ(updates.value("b", 0), 0);  // no gradient, no change
}

void expect_follows(const std::string& yaml, const Recurrence& recurrence, double scale = 1) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu})
    expect_follows(yaml, recurrence, scale, backend);
}

/// The numbers of a run of 4 epochs of 5 steps.
std::string numbers_of(const std::string& item) {
  const auto schedule = Registry<Schedule>::make_item(parse_yaml(item, "s.yaml"));
  std::string text;
  for (int64_t step = 0; step < 20; ++step)
    text += shortest(schedule->at({.step = step, .steps_per_epoch = 5, .max_epoch = 4})) + " ";
  return text;
}

const live::Fields kCosine("schedule", "Cosine", {.base = "{start: 0.1, period: 1}"});
const live::Fields kExponential("schedule", "Exponential", {.base = "{start: 0.1, every: 1}"});
const live::Fields kFormulaSchedule("schedule", "Formula", {.values = {{"value", "step * 2"}}});
const live::Fields kPiecewise("schedule", "Piecewise",
                              {.base = "{values: [[0, 0.1], [3, 0.2]]}",
                               .values = {{"values", "[[0, 0.1], [2, 0.3]]"}}});

TEST(Schedules, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Schedule>::table(), {numbers_of}), testing::IsEmpty());
}

TEST(LearningRate, may_be_a_schedule_also_in_proportion_to_the_samples_of_a_step) {
  const auto rate_of = [](const std::string& yaml) {
    Diagnostics errors;
    Reader reader("'learning_rate'", {}, errors);
    const auto rate = Codec<LearningRate>::parse(parse_yaml(yaml, "o.yaml"), reader);
    errors.throw_if_any();
    return *rate;
  };
  const StepOfRun last{.step = 9, .steps_per_epoch = 5, .max_epoch = 2};
  const LearningRate plain = rate_of("{Linear: {start: 1, end: 0}}");
  EXPECT_NEAR(plain.of(512).schedule->at(last), 0.1, 1e-15);
  const LearningRate scaled = rate_of("{base: {Linear: {start: 1, end: 0}}, per: 256}");
  EXPECT_NEAR(scaled.of(512).schedule->at(last), 0.2, 1e-15);
  const ConfigNode dumped = Codec<LearningRate>::dump(scaled);
  EXPECT_EQ(to_json(*dumped.find("per")), "256");
  EXPECT_EQ(dumped.find("base")->entries()[0].key, "Linear");
}

TEST(LearningRate, is_a_number_or_in_proportion_to_the_samples_of_a_step) {
  EXPECT_EQ(LearningRate(0.1).of(512).number, 0.1);
  LearningRate rate(0.1);
  rate.per = 256;
  EXPECT_EQ(rate.of(512).number, 0.2);
  EXPECT_EQ(to_json(Codec<LearningRate>::dump(rate)), R"({"base": 0.1, "per": 256})");
  for (const char* wrong : {"-1", "{base: 0.1}", "{base: 0.1, per: 0}", "{base: 0.1, pre: 2}", "fast"})
    EXPECT_THROW(Registry<Optimizer>::make_item(
                     parse_yaml("SGD: {learning_rate: " + std::string(wrong) + "}", "o.yaml")),
                 ConfigError)
        << wrong;
}

TEST(Sgd, follows_its_recurrence) {
  expect_follows("SGD: {learning_rate: 0.1}", [](Scalar& s, double g, int) { s.p -= 0.1 * g; });
}

TEST(Momentum, follows_its_recurrence) {
  expect_follows("Momentum: {learning_rate: 0.1, momentum: 0.8}", [](Scalar& s, double g, int) {
    s.slot = 0.8 * s.slot + g;
    s.p -= 0.1 * s.slot;
  });
}

TEST(Momentum, looks_ahead_with_nesterov) {
  expect_follows("Momentum: {learning_rate: 0.1, momentum: 0.8, nesterov: true}",
                 [](Scalar& s, double g, int) {
                   s.slot = 0.8 * s.slot + g;
                   s.p -= 0.1 * (g + 0.8 * s.slot);
                 });
}

TEST(Adam, follows_the_papers_algorithm_1) {
  expect_follows("Adam: {learning_rate: 0.01}", [](Scalar& s, double g, int t) {
    s.slot = 0.9 * s.slot + 0.1 * g;
    s.second = 0.999 * s.second + 0.001 * g * g;
    const double m = s.slot / (1 - std::pow(0.9, t));
    const double v = s.second / (1 - std::pow(0.999, t));
    s.p -= 0.01 * m / (std::sqrt(v) + 1e-8);
  });
}

TEST(Adam, uses_its_parameters) {
  expect_follows("Adam: {learning_rate: 0.1, beta1: 0.5, beta2: 0.6, epsilon: 0.3}",
                 [](Scalar& s, double g, int t) {
                   s.slot = 0.5 * s.slot + 0.5 * g;
                   s.second = 0.6 * s.second + 0.4 * g * g;
                   const double m = s.slot / (1 - std::pow(0.5, t));
                   const double v = s.second / (1 - std::pow(0.6, t));
                   s.p -= 0.1 * m / (std::sqrt(v) + 0.3);
                 });
}

TEST(Adam, rejects_means_that_forget_nothing) {
  EXPECT_THROW(Updates("Adam: {beta1: 1}"), ConfigError);
  EXPECT_THROW(Updates("Adam: {beta2: 1}"), ConfigError);
}

TEST(AdamW, decays_weights_apart_from_the_gradient) {
  expect_follows("AdamW: {learning_rate: 0.1, beta1: 0.5, beta2: 0.6, epsilon: 0.3, weight_decay: 0.2}",
                 [](Scalar& s, double g, int t) {
                   s.slot = 0.5 * s.slot + 0.5 * g;
                   s.second = 0.6 * s.second + 0.4 * g * g;
                   const double m = s.slot / (1 - std::pow(0.5, t));
                   const double v = s.second / (1 - std::pow(0.6, t));
                   s.p -= 0.1 * 0.2 * s.p;
                   s.p -= 0.1 * m / (std::sqrt(v) + 0.3);
                 });
}

/// As the groups with weight_decay=0 of PyTorch's recipes.
TEST(AdamW, does_not_decay_what_is_excluded) {
  Updates some("AdamW: {weight_decay: 0.2, exclude: [b]}");
  Updates all("AdamW: {weight_decay: 0.2}");
  Updates none("Adam");
  for (Updates* updates : {&some, &all, &none}) {
    for (const char* variable : {"a", "b"}) {
      updates->set(variable, 0, 0.7);
      updates->set("@gradient/" + std::string(variable), 0, 0.3);
    }
    updates->run();
  }
  EXPECT_EQ(some.value("a", 0), all.value("a", 0));
  EXPECT_EQ(some.value("b", 0), none.value("b", 0));
  EXPECT_NE(all.value("b", 0), none.value("b", 0));
  EXPECT_THAT([] { Updates("AdamW: {exclude: [.*/c]}"); },
              testing::ThrowsMessage<ConfigError>(
                  testing::HasSubstr("'exclude': no trained variable matches '.*/c'")));
}

const live::Fields kSgd("optimizer", "SGD",
                        {.base = "{decoupled_weight_decay: 0.1}", .values = {{"exclude", "[a]"}}});
const live::Fields kMomentum("optimizer", "Momentum",
                             {.base = "{decoupled_weight_decay: 0.1}", .values = {{"exclude", "[a]"}}});
const live::Fields kLion("optimizer", "Lion", {.values = {{"exclude", "[a]"}}});
const live::Fields kAdamW("optimizer", "AdamW", {.values = {{"exclude", "[a]"}}});

TEST(AdamW, without_decay_is_adam) {
  Updates adamw("AdamW: {weight_decay: 0}");
  Updates adam("Adam");
  for (Updates* updates : {&adamw, &adam}) {
    for (int step = 0; step < 5; ++step) {
      updates->set("@gradient/a", 0, gradient_at(step, 0));
      updates->run();
    }
  }
  EXPECT_EQ(adamw.value("a", 0), adam.value("a", 0));
  EXPECT_THROW(Updates("AdamW: {beta1: 1}"), ConfigError);
}

TEST(RMSProp, follows_its_recurrence) {
  expect_follows("RMSProp: {learning_rate: 0.01, decay: 0.9, epsilon: 0.1, momentum: 0.5}",
                 [](Scalar& s, double g, int) {
                   s.second = 0.9 * s.second + 0.1 * g * g;
                   s.slot = 0.5 * s.slot + g / (std::sqrt(s.second) + 0.1);
                   s.p -= 0.01 * s.slot;
                 });
}

/// The mean of squares of a gradient that never changes is the square of its mean, up to rounding, which must
/// not give the root of a negative number.
TEST(RMSProp, centered_survives_a_constant_gradient) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    Updates updates("RMSProp: {learning_rate: 1.0e-6, decay: 0.5, epsilon: 1, centered: true}", 1, backend);
    for (int i = 0; i < 3; ++i) updates.set("@gradient/a", i, 0.1 + 0.7 * i);
    for (int step = 0; step < 200; ++step) updates.run();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(updates.value("a", i)));
  }
}

TEST(RMSProp, stores_what_it_needs) {
  const auto stored = [](const std::string& yaml) {
    return Updates(yaml).variables().names(VariableScope::kOptimizer);
  };
  EXPECT_THAT(stored("RMSProp"), testing::ElementsAre("@square/a", "@square/b", "learning_rate"));
  EXPECT_THAT(stored("RMSProp: {momentum: 0.9, centered: true}"),
              testing::ElementsAre("@mean/a", "@mean/b", "@momentum/a", "@momentum/b", "@square/a",
                                   "@square/b", "learning_rate"));
  EXPECT_THROW(Updates("RMSProp: {decay: 1}"), ConfigError);
}

TEST(Optimizer, scales_the_gradient_first) {
  expect_follows(
      "Momentum: {learning_rate: 0.1}",
      [](Scalar& s, double g, int) {
        s.slot = 0.9 * s.slot + g;
        s.p -= 0.1 * s.slot;
      },
      0.25);
}

TEST(Optimizer, takes_the_learning_rate_that_the_host_sets) {
  Updates updates("SGD: {learning_rate: 0.1}");
  EXPECT_DOUBLE_EQ(updates.value(kLearningRate, 0), 0.1);
  updates.set("@gradient/a", 0, 2);
  updates.set(kLearningRate, 0, 0.5);
  updates.run();
  EXPECT_DOUBLE_EQ(updates.value("a", 0), -1);
}

TEST(Optimizer, keeps_its_slots_by_variable) {
  Updates updates("Adam: {}");
  updates.set("@gradient/b", 1, 4);
  updates.run();
  EXPECT_DOUBLE_EQ(updates.value("@m/b", 1), 0.4);
  EXPECT_DOUBLE_EQ(updates.value("@v/b", 1), 0.016);
  EXPECT_THAT(updates.variables().names(VariableScope::kOptimizer),
              testing::ElementsAre("@m/a", "@m/b", "@v/a", "@v/b", "learning_rate", "m_weight", "v_weight"));
}

int kernels_of(const std::string& yaml) { return Updates(yaml, 0.5, Backend::kCpu).kernels(); }

TEST(Optimizer, updates_all_variables_in_one_kernel) {
  EXPECT_EQ(kernels_of("SGD"), 1);
  EXPECT_EQ(kernels_of("Momentum"), 1);
  EXPECT_EQ(kernels_of("Momentum: {nesterov: true}"), 1);
  // And one for the weight of each mean, with one element.
  EXPECT_EQ(kernels_of("Adam"), 1 + 2);
  EXPECT_EQ(kernels_of("AdamW"), 1 + 2);
  EXPECT_EQ(kernels_of("RMSProp"), 1);
  EXPECT_EQ(kernels_of("Adagrad"), 1);
  EXPECT_EQ(kernels_of("Adadelta"), 1);
  EXPECT_EQ(kernels_of("Adam: {amsgrad: true}"), 1 + 2);
  EXPECT_EQ(kernels_of("Adamax"), 1 + 1);
  // And one for the rate times the decay, with one element.
  EXPECT_EQ(kernels_of("SGD: {decoupled_weight_decay: 0.1}"), 1 + 1);
  EXPECT_EQ(kernels_of("Momentum: {decoupled_weight_decay: 0.1}"), 1 + 1);
  EXPECT_EQ(kernels_of("Lion: {weight_decay: 0.1}"), 1 + 1);
  EXPECT_EQ(kernels_of("RMSProp: {centered: true, momentum: 0.9}"), 1);
  EXPECT_EQ(kernels_of("SGD: {gradient: [ValueClip: 1]}"), 1);
  // And one for the factors.
  EXPECT_EQ(kernels_of("SGD: {gradient: [{ScaleGradient: {factors: {a: 2}}}]}"), 1 + 1);
  EXPECT_EQ(kernels_of("Adam: {learning_rate_multipliers: {a: 2}}"), 1 + 2 + 1);
}

TEST(Optimizer, reads_the_gradient_in_one_more_kernel_for_its_norm) {
  // The sum of squares, and the factor for clipping, with one element each.
  EXPECT_EQ(kernels_of("SGD: {gradient: [GlobalNormClip: 1]}"), 1 + 2);
  EXPECT_EQ(kernels_of("Momentum: {gradient: [GlobalNormClip: 1]}"), 1 + 2);
  EXPECT_EQ(kernels_of("Adam: {gradient: [GlobalNormClip: 1]}"), 3 + 2);
}

/// The update of a vector and a kernel.
std::string update_of(const std::string& optimizer_yaml) {
  return graph_text([&](Builder& b) {
    b.variables().declare({"a", {DType::kFloat64, {3}}, VariableScope::kModel, true, nullptr});
    b.variables().declare(
        {.name = "k", .spec = {DType::kFloat64, {2, 3}}, .trainable = true, .kernel = KernelKind::kDense});
    Registry<Optimizer>::make_item(parse_yaml(optimizer_yaml, "o.yaml"))
        ->build(b, b.variables().groups().front(), 1);
  });
}

TEST(Optimizers, have_no_field_without_effect) {
  const live::Scene scene{update_of, {{"factors by variable", {"a"}}}};
  EXPECT_THAT(live::dead_fields(Registry<Optimizer>::table(), scene), testing::IsEmpty());
}

TEST(GradientProcessors, have_no_field_without_effect) {
  const auto update = [](const std::string& item) { return update_of("SGD: {gradient: [" + item + "]}"); };
  EXPECT_THAT(live::dead_fields(Registry<GradientProcessor>::table(), {update}), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
