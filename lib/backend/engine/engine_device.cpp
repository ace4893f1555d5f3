#include "backend/engine/engine_device.h"

#include <algorithm>
#include <utility>

#include "backend/engine/executable.h"
#include "backend/engine/layout_choice.h"
#include "backend/engine/lowering.h"
#include "backend/engine/tuner.h"
#include "backend/passes/passes.h"

namespace tpack {
namespace {

class EngineDevice final : public Device {
 public:
  EngineDevice(std::string name, const DeviceOptions& options, DeviceParts parts)
      : Device({std::move(name), options.float_type, parts.library->hardware(), options.threads,
                parts.library->stored_type()}),
        options_(options),
        library_(std::move(parts.library)),
        open_queue_(std::move(parts.open_queue)),
        memory_(*parts.memory),
        tuner_(*library_, {options.cache_dir, options.timings, options.timing_s, parts.memory}),
        arena_(std::make_shared<Arena>(memory_)) {}
  void create_variables(const VariableTable& table) override {
    store_ = std::make_unique<VariableStore>(table, memory_);
    limit_arena();
  }
  void share_variables(const VariableTable& table, const VariableStore& store, Sharing sharing) override {
    if (!can_share_variables()) return Device::share_variables(table, store, sharing);
    variables_change_ = true;  // others may change them
    store_ = std::make_unique<VariableStore>(table, store, sharing);
    limit_arena();
  }
  bool can_share_variables() const override { return arena_->on_host(); }
  VariableStore& variables() override { return *store_; }
  uint64_t arena_bytes() const override { return arena_->block ? arena_->block->bytes() : 0; }
  void assist(const std::atomic<uint32_t>& turn, uint32_t old) override { queue_->assist(turn, old); }

  std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section, Choosing choosing) override {
    if (!queue_) queue_ = open_queue_();
    if (section.pieces == 0) section.pieces = std::min(options_.threads, PlanSection::kMaxPieces);
    variables_change_ = variables_change_ || !graph.assignments().empty();
    const Graph program = library_->rewritten(graph);
    if (section.chosen) {
      require_section_of(program, section, *library_);
    } else {
      section = choose_layouts(program, algorithm(choosing), section.pieces, *library_);
      if (algorithm(choosing) == DeviceOptions::Algorithm::kAuto) section = measured(program, section);
    }
    return make_executable(lowered(program, section), *store_, arena_, queue_, options_.check_kernels);
  }

 private:
  /// The variables and the arena together keep to the limit.
  void limit_arena() {
    if (options_.memory_bytes == 0) return;
    const uint64_t variables = std::min(store_->bytes(), options_.memory_bytes - 1);
    arena_->limit = options_.memory_bytes - variables;
  }

  LoweredProgram lowered(const Graph& program, const PlanSection& section) const {
    if (!options_.recompute) return lower(program, section, *store_, *library_, !variables_change_);
    const Graph smaller = recompute_sweeps(program);
    PlanSection all = section;
    for (const auto& node : smaller.nodes()) {
      const auto chosen = section.nodes.find(node->path.substr(0, node->path.rfind(kRecomputed)));
      if (chosen != section.nodes.end()) all.nodes.emplace(node->path, chosen->second);
    }
    return lower(smaller, all, *store_, *library_, !variables_change_);
  }

  /// What cannot fit in memory is rejected before anything is timed: measured choices need no more of it.
  PlanSection measured(const Graph& program, const PlanSection& rules) {
    const auto require_room = [&] { arena_->require_room(arena_bytes_of(lowered(program, rules))); };
    PlanSection section = measure_layouts(program, rules, tuner_, *queue_, *library_, require_room);
    library_->forget_ways();
    return section;
  }

  DeviceOptions::Algorithm algorithm(Choosing choosing) const {
    using Algorithm = DeviceOptions::Algorithm;
    const bool may_not_measure = choosing == Choosing::kByRules && options_.algorithm == Algorithm::kAuto;
    return may_not_measure ? Algorithm::kHeuristic : options_.algorithm;
  }

  DeviceOptions options_;
  std::unique_ptr<KernelLibrary> library_;
  std::function<std::unique_ptr<KernelQueue>()> open_queue_;
  Memory& memory_;
  Tuner tuner_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<KernelQueue> queue_;  // from the first compile on
  std::unique_ptr<VariableStore> store_;
  // Other than by VariableStore::set: then constants are not worth their memory.
  bool variables_change_ = false;
};

}  // namespace

std::unique_ptr<Device> make_engine_device(std::string name, const DeviceOptions& options,
                                           DeviceParts parts) {
  return std::make_unique<EngineDevice>(std::move(name), options, std::move(parts));
}

}  // namespace tpack
