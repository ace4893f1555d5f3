#pragma once

#include <array>
#include <cstdint>

namespace tpack {

/// The hooks of callbacks, in the order of a run (docs/concepts.md).
enum class Hook : uint8_t {
  kCompile,
  kBeforeTrain,
  kBeforeEpoch,
  kBeforeRun,
  kAfterRun,
  kTriggerStep,
  kAfterEpoch,
  kTriggerEpoch,
  kAfterTrain
};

/// The hooks in which a callback may take long, and end early if the run should end.
enum class HookPhase : uint8_t { kNone, kBeforeTrain, kTriggerStep, kTriggerEpoch };
/// Their names in checkpoints.
inline constexpr std::array kHookPhaseNames = {"", "before_train", "trigger_step", "trigger_epoch"};

}  // namespace tpack
