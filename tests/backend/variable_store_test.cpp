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

TEST(VariableStore, shares_all_variables_or_those_of_the_optimizer) {
  VariableTable table = small_table();
  table.declare({"state", {DType::kFloat32, {2}}, VariableScope::kLocal, false, nullptr});
  VariableStore first(table);
  first.initialize(5);
  for (const Sharing sharing : {Sharing::kAll, Sharing::kOptimizer}) {
    VariableStore other(table, first, sharing);
    other.initialize(6);
    const auto is_shared = [&](const char* name) {
      return other.tensor(name).address() == first.tensor(name).address();
    };
    for (const char* name : {"@momentum", "@momentum/b/W", "learning_rate"})
      EXPECT_TRUE(is_shared(name)) << name;
    for (const char* name : {"@gradient", "@gradient/a/W", "state"}) EXPECT_FALSE(is_shared(name)) << name;
    for (const char* name : {"@parameters", "a/W", "bn/mean/EMA"})
      EXPECT_EQ(is_shared(name), sharing == Sharing::kAll) << name;
    // Values of its own are those of seed 6 until they are copied; those of the other store stay.
    EXPECT_EQ(bit_equal(other.tensor("b/W"), first.tensor("b/W")), sharing == Sharing::kAll);
    other.copy_from(first);
    EXPECT_TRUE(bit_equal(other.tensor("b/W"), first.tensor("b/W")));
    const auto own = static_cast<uint64_t>(first.tensor("@gradient").bytes() + first.tensor("state").bytes());
    const auto weights =
        static_cast<uint64_t>(first.tensor("@parameters").bytes() + first.tensor("bn/mean/EMA").bytes());
    EXPECT_EQ(other.bytes(), own + (sharing == Sharing::kAll ? 0 : weights));
  }
}

}  // namespace
}  // namespace tpack
