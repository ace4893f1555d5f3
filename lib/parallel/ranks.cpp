#include "parallel/ranks.h"

namespace tpack {

namespace {

void require_one_arithmetic(Comm& world, const Device& device) {
  const DType type = device.info().stored_type;
  const std::vector<std::string> types = world.all_gather(name_of(type), "the precision");
  for (size_t rank = 1; rank < types.size(); ++rank) {
    if (types[rank] == types[0]) continue;
    const auto half = types[0] == name_of(DType::kFloat32) ? rank : 0;
    throw DistributedError(
        "engine.precision: the processor of rank " + std::to_string(half) + " computes in " + types[half] +
        ", that of rank " + std::to_string(half == 0 ? rank : 0) +
        " cannot; use --precision fp32, or start all ranks on processors with products in " + types[half]);
  }
}

}  // namespace

void build_with_plan_of_rank_0(Comm& world, const Device& device, Plan& plan,
                               const std::function<void()>& build) {
  if (world.size() == 1) return build();
  require_one_arithmetic(world, device);
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
