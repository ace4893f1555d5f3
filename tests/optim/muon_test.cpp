#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kMuon("optimizer", "Muon", {.values = {{"others", "[k]"}, {"exclude", "[k]"}}});

/// 2 x 2 kernel with orthogonal rows of different lengths; its singular values are those lengths.
void set_orthogonal_rows(Updates& updates, double first, double second) {
  updates.set("@gradient/w", 0, 0.6 * first);
  updates.set("@gradient/w", 1, 0.8 * first);
  updates.set("@gradient/w", 2, -0.8 * second);
  updates.set("@gradient/w", 3, 0.6 * second);
}

double row_length(const Updates& updates, int row) {
  return std::hypot(updates.value("w", 2 * row), updates.value("w", 2 * row + 1));
}

class MuonOn : public testing::TestWithParam<Backend> {};

/// The band of singular values is that of the coefficients of the source, after five steps.
TEST_P(MuonOn, moves_a_kernel_in_all_directions_by_nearly_the_same_length) {
  for (const double size : {1e-5, 1.0, 1e5}) {
    Updates updates("Muon: {learning_rate: 1, adjust: original}", 1, GetParam(), {{"w", {2, 2}}});
    set_orthogonal_rows(updates, size, 0.05 * size);
    updates.run();
    for (const int row : {0, 1}) {
      EXPECT_GT(row_length(updates, row), 0.65) << size;
      EXPECT_LT(row_length(updates, row), 1.25) << size;
    }
    // Orthogonal as the gradient, and against it.
    EXPECT_NEAR(updates.value("w", 0) * updates.value("w", 2) + updates.value("w", 1) * updates.value("w", 3),
                0, 1e-4);
    EXPECT_LT(updates.value("w", 0), 0);
    EXPECT_GT(updates.value("w", 2), 0);
  }
}

/// The root of the mean of squares of the step is 0.2, within the band, for kernels of any shape.
TEST_P(MuonOn, has_steps_of_the_size_of_adamw) {
  for (const Shape& shape : {Shape{4, 40}, Shape{40, 4}, Shape{16, 16}, Shape{8, 2, 3, 3}}) {
    Updates updates("Muon: {learning_rate: 1}", 1, GetParam(), {{"w", shape}});
    const int64_t count = shape.elements();
    for (int64_t i = 0; i < count; ++i)
      updates.set("@gradient/w", i, std::sin(1.0 + 37.0 * static_cast<double>(i * i)));
    updates.run();
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::pow(updates.value("w", i), 2);
    EXPECT_NEAR(std::sqrt(sum / static_cast<double>(count)), 0.2, 0.07) << shape.str();
  }
}

TEST_P(MuonOn, is_adamw_for_what_is_no_kernel) {
  const Updates::Shapes shapes = {{"w", {2, 3}}, {"b", {3}}, {"scale", {2, 3, 1}}};
  Updates muon("Muon: {learning_rate: 0.1, others: [w], others_rate: 0.5}", 1, GetParam(), shapes);
  Updates adamw("AdamW: {learning_rate: 0.05}", 1, GetParam(), shapes);
  for (int step = 0; step < 20; ++step) {
    for (Updates* updates : {&muon, &adamw}) {
      for (const auto& [name, shape] : shapes) {
        for (int64_t i = 0; i < shape.elements(); ++i)
          updates->set("@gradient/" + name, i, std::sin(0.9 * step + static_cast<double>(i)));
      }
      updates->run();
    }
  }
  for (const auto& [name, shape] : shapes) {
    for (int64_t i = 0; i < shape.elements(); ++i)
      EXPECT_NEAR(muon.value(name, i), adamw.value(name, i), 1e-6) << name << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, MuonOn, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

TEST(Muon, stores_two_numbers_for_each_parameter) {
  const Updates updates("Muon", 1, Backend::kReference, {{"w", {2, 2}}, {"b", {2}}});
  EXPECT_THAT(updates.variables().names(VariableScope::kOptimizer),
              testing::ElementsAre("@m/b", "@m/w", "@v/b", "@v/w", "learning_rate", "m_weight", "v_weight"));
}

TEST(Muon, names_variables_that_do_not_exist) {
  EXPECT_THROW(Updates{"Muon: {others: [c]}"}, ConfigError);
  EXPECT_THROW(Updates{"Muon: {exclude: [c]}"}, ConfigError);
}

TEST(Muon, rejects_a_momentum_that_forgets_nothing) {
  EXPECT_THROW(Updates{"Muon: {momentum: 1}"}, ConfigError);
  EXPECT_THROW(Updates{"Muon: {beta1: 1}"}, ConfigError);
  EXPECT_THROW(Updates{"Muon: {steps: 0}"}, ConfigError);
}

}  // namespace
}  // namespace tpack
