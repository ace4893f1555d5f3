#include "parallel/ranks.h"

#include <functional>
#include <thread>
#include <vector>

#include <gmock/gmock-matchers.h>

#include "comm/local_group.h"

namespace tpack {
namespace {

void on_two_ranks(const std::function<void(Comm&)>& work) {
  LocalGroup group(2, 30);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto comm = group.member(rank);
      work(*comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Ranks, take_the_plan_of_rank_0_before_they_build) {
  on_two_ranks([](Comm& world) {
    Plan plan;
    std::vector<size_t> sections;  // when building begins
    const auto device = make_reference_device("cpu:0", {});
    build_with_plan_of_rank_0(world, *device, plan, [&] {
      sections.push_back(plan.sections.size());
      if (world.rank() == 0) plan.sections["step"] = {.pieces = 1};
    });
    EXPECT_THAT(sections, testing::ElementsAre(world.rank() == 0 ? 0 : 1));
    EXPECT_TRUE(plan.sections.contains("step"));
    EXPECT_EQ(plan.remedy.empty(), world.rank() == 0) << "another rank must not plan by itself";
  });
}

TEST(Ranks, get_the_variables_of_rank_0_but_local_ones) {
  on_two_ranks([](Comm& world) {
    VariableTable table;
    const TensorSpec spec{DType::kFloat32, {}};
    table.declare({"w", spec, VariableScope::kModel});
    table.declare({"rate", spec, VariableScope::kOptimizer});
    table.declare({"cell", spec, VariableScope::kLocal});
    VariableStore store(table);
    for (const char* name : {"w", "rate", "cell"}) store.set_number(name, 1 + world.rank());
    broadcast_variables(world, store);
    EXPECT_EQ(store.number("w"), 1);
    EXPECT_EQ(store.number("rate"), 1);
    EXPECT_EQ(store.number("cell"), 1 + world.rank());
  });
}

}  // namespace
}  // namespace tpack
