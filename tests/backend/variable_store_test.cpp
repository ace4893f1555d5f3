#include "backend/variable_store.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

const Initialize kNormal = [](const Tensor& value, Rng& rng) {
  for (float& x : value.span<float>()) x = rng.normal();
};

VariableTable small_table() {
  VariableTable table;
  table.declare({"a/W", {DType::kFloat32, {3}}, VariableScope::kModel, true, kNormal});
  table.declare({"b/W", {DType::kFloat32, {2, 2}}, VariableScope::kModel, true, kNormal});
  table.declare({"bn/mean/EMA", {DType::kFloat32, {2}}, VariableScope::kModel, false, nullptr});
  table.declare({"@momentum", {DType::kFloat32, {32}}, VariableScope::kOptimizer, false, nullptr});
  table.declare({"learning_rate", {DType::kFloat32, {}}, VariableScope::kOptimizer, false, nullptr});
  return table;
}

TEST(VariableStore, lays_trainable_variables_gradients_and_slots_out_alike) {
  const VariableTable table = small_table();
  VariableStore store(table);
  store.tensor("b/W").data<float>()[0] = 7;
  EXPECT_EQ(store.tensor("@parameters").at(16), 7);
  store.tensor("@gradient").data<float>()[16] = 8;
  EXPECT_EQ(store.tensor("@gradient/b/W").at(0), 8);
  store.tensor("@momentum").data<float>()[1] = 9;
  EXPECT_EQ(store.tensor("@momentum/a/W").at(1), 9);
}

TEST(VariableStore, tells_variables_from_gradients_and_slots_of_the_same_name) {
  VariableTable table = small_table();
  table.declare({"gradient/a/W", {DType::kFloat32, {3}}, VariableScope::kModel, true, nullptr});
  table.declare({"momentum/a/W", {DType::kFloat32, {5}}, VariableScope::kModel, false, nullptr});
  VariableStore store(table);
  store.tensor("gradient/a/W").data<float>()[0] = 7;
  EXPECT_EQ(store.tensor(gradient_name("a/W")).at(0), 0);
  EXPECT_EQ(store.tensor("momentum/a/W").shape(), (Shape{5}));
  EXPECT_EQ(store.tensor("@momentum/a/W").shape(), (Shape{3}));
}

TEST(VariableStore, names_what_a_checkpoint_holds) {
  const VariableTable table = small_table();
  const VariableStore store(table);
  EXPECT_EQ(store.names(VariableScope::kModel), (std::vector<std::string>{"a/W", "b/W", "bn/mean/EMA"}));
  EXPECT_EQ(store.names(VariableScope::kOptimizer),
            (std::vector<std::string>{"@momentum/a/W", "@momentum/b/W", "learning_rate"}));
}

TEST(VariableStore, initial_values_depend_on_seed_and_name_alone) {
  const VariableTable table = small_table();
  VariableStore one(table);
  VariableStore two(table);
  one.initialize(5);
  two.initialize(5);
  EXPECT_TRUE(bit_equal(one.tensor("b/W"), two.tensor("b/W")));
  two.initialize(6);
  EXPECT_FALSE(bit_equal(one.tensor("b/W"), two.tensor("b/W")));
  two.copy_from(one);
  EXPECT_TRUE(bit_equal(one.tensor("b/W"), two.tensor("b/W")));
}

}  // namespace
}  // namespace tpack
