#include "backend/device.h"

#include <algorithm>
#include <mutex>

#include "backend/passes/passes.h"
#include "cpu/executable.h"
#include "cpu/layout_choice.h"
#include "cpu/lowering.h"
#include "cpu/onednn.h"
#include "cpu/tuner.h"
#include "system/log.h"

namespace tpack::cpu {
namespace {

void warn_of_widening(DType type) {
  static std::once_flag once;
  std::call_once(once, [type] {
    log::warning(
        std::string("engine.precision: tpack has no products of ") + tpack::name_of(type) +
        " on this processor; they are computed in float32 of rounded factors, which takes longer than fp32");
  });
}

class CpuDevice final : public Device {
 public:
  CpuDevice(std::string name, const DeviceOptions& options)
      : name_(std::move(name)),
        options_(options),
        tuner_({options.cache_dir, options.timings, options.timing_s}),
        arena_(std::make_shared<Arena>()) {
    if (options.float_type != DType::kFloat32) {
      throw ConfigError("the cpu backend computes in float32; use engine: {backend: reference} for float64");
    }
    if (options.factors != DType::kFloat32 && factors() == Factors::kWidened)
      warn_of_widening(options.factors);
  }
  const std::string& name() const override { return name_; }
  DType float_type() const override { return DType::kFloat32; }
  const std::string& hardware() const override { return hardware_; }
  void create_variables(const VariableTable& table) override {
    store_ = std::make_unique<VariableStore>(table);
  }
  void share_variables(const VariableTable& table, const VariableStore& store, Sharing sharing) override {
    store_ = std::make_unique<VariableStore>(table, store, sharing);
  }
  bool can_share_variables() const override { return true; }
  VariableStore& variables() override { return *store_; }
  uint64_t arena_bytes() const override { return arena_->memory ? arena_->memory->bytes() : 0; }
  int threads() const override { return options_.threads; }
  void assist(const std::atomic<uint32_t>& turn, uint32_t old) override { team_->assist(turn, old); }

  std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section, Choosing choosing) override {
    use_one_onednn_thread();
    // Here, not when the device is made: its threads run where the thread that computes is bound.
    if (!team_) team_ = std::make_shared<Team>(options_.threads);
    if (section.pieces == 0) section.pieces = std::min(options_.threads, Team::kMaxPieces);
    const Graph fused = options_.factors == DType::kFloat32
                            ? tpack::fused(graph)
                            : tpack::fused(round_factors(graph, options_.factors, factors()));
    if (section.chosen) {
      require_section_of(fused, section);
    } else {
      section = choose_layouts(fused, algorithm(choosing), section.pieces);
      if (algorithm(choosing) == DeviceOptions::Algorithm::kAuto) section = measured(fused, section);
    }
    LoweredProgram program = lower(fused, section, *store_);
    return make_executable(std::move(program), *store_, arena_, team_, options_.check_kernels);
  }

 private:
  /// What cannot fit in memory is rejected before anything is timed: measured choices need no more of it.
  PlanSection measured(const Graph& fused, const PlanSection& rules) {
    const auto require_room = [&] { arena_->require_room(arena_bytes_of(lower(fused, rules, *store_))); };
    PlanSection section = measure_layouts(fused, rules, tuner_, *team_, require_room);
    forget_primitives();
    return section;
  }

  Factors factors() const {
    const bool has_kernels = options_.factors == DType::kBFloat16 && has_bfloat16();
    return has_kernels ? Factors::kHalf : Factors::kWidened;
  }

  DeviceOptions::Algorithm algorithm(Choosing choosing) const {
    using Algorithm = DeviceOptions::Algorithm;
    const bool may_not_measure = choosing == Choosing::kByRules && options_.algorithm == Algorithm::kAuto;
    return may_not_measure ? Algorithm::kHeuristic : options_.algorithm;
  }

  std::string name_;
  std::string hardware_ = cpu_name();
  DeviceOptions options_;
  Tuner tuner_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<Team> team_;  // from the first compile on
  std::unique_ptr<VariableStore> store_;
};

const CpuDevices kCpuDevices([](const std::string& name,
                                const DeviceOptions& options) -> std::unique_ptr<Device> {
  return std::make_unique<CpuDevice>(name, options);
});

}  // namespace
}  // namespace tpack::cpu
