#include "parallel/ranks.h"

namespace tpack {

void build_with_plan_of_rank_0(Comm& world, Plan& plan, const std::function<void()>& build) {
  if (world.size() == 1) return build();
  // Later choices of a program follow the same rules on every rank.
  const auto build_alone = [&] {
    const ScopedActivity busy(world, "choosing and compiling kernels");
    build();
  };
  if (world.rank() == 0) build_alone();
  const std::string text = world.all_gather(world.rank() == 0 ? plan.to_json() : "", "the plan")[0];
  if (world.rank() == 0) return;
  plan = Plan::from_json(text, "the plan of rank 0");
  plan.remedy =
      "start all ranks on machines of one kind";  // planning again here would produce different bits
  build_alone();
}

void broadcast_variables(Comm& world, VariableStore& store) {
  if (world.size() == 1) return;
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : store.names(scope)) {
      const Tensor value = store.value(name);
      world.broadcast({value.raw(), value.bytes()}, 0, "variables");
      store.set(name, value);
    }
  }
}

}  // namespace tpack
