#include "reports/memory_report.h"

#include <algorithm>

#include "core/text.h"
#include "predict/evaluator.h"
#include "system/machine.h"

namespace tpack {
namespace {

// Memory of a process that trains, but not of one that only checks: code and buffers of libraries that steps
// and saves use first, the log, stacks of threads. The middle of the measured values (docs/performance.md).
constexpr uint64_t kOnlyInTraining = 9'000'000;

uint64_t bytes_of_batch(const DataFlow& flow) {
  if (!flow.knows_spec()) return 0;  // it was not opened
  const int64_t batch = flow.batch_size().value_or(1);
  uint64_t bytes = 0;
  for (const ComponentSpec& component : flow.spec()) {
    Shape shape = component.tensor.shape;
    if (!shape.known() && shape.rank() > 0) shape = shape.with(0, batch);  // a remainder is smaller
    if (shape.known()) bytes += static_cast<uint64_t>(TensorSpec{component.tensor.dtype, shape}.bytes());
  }
  return bytes;
}

/// For the largest flow that is not for training.
uint64_t bytes_of_evaluation(const Experiment& e) {
  uint64_t largest = 0;
  for (const auto& [name, flow] : e.flows) {
    if (name != "train") largest = std::max(largest, Evaluator::kBatchesInMemory * bytes_of_batch(flow));
  }
  return largest;
}

/// A checkpoint is built in memory from a copy, each tensor of which is freed then. If a trainer has no
/// variables on devices, its checkpoint is known only after it has begun.
uint64_t bytes_of_checkpoint(Trainer& trainer) {
  CheckpointContent content;
  if (trainer.part<TrainedVariables>().variables() == nullptr) return 0;
  trainer.save(content);
  uint64_t bytes = 0;
  uint64_t largest = 0;
  for (const auto& [name, tensor] : content.tensors) {
    bytes += tensor.bytes();
    largest = std::max<uint64_t>(largest, tensor.bytes());
  }
  return bytes + largest;
}

}  // namespace

std::vector<std::pair<const char*, uint64_t>> MemoryReport::parts() const {
  return {{"program and libraries", program}, {"data sets", data},      {"variables", variables},
          {"activations", activations},       {"constants", constants}, {"batches", batches},
          {"validation or saving", passing}};
}

std::optional<std::string> MemoryReport::shortage(uint64_t limit) const {
  if (total() <= limit) return std::nullopt;
  return "training needs " + human_bytes(total()) + " of memory at its peak, but " + human_bytes(limit) +
         " is available: the system may end it, and steps since the last checkpoint would be lost";
}

/// Against a limit of mappings, the mapped variables and activations of this process count, too.
std::optional<uint64_t> MemoryReport::limit() const {
  std::optional<uint64_t> more = available_memory();
  if (const auto mappable = mappable_memory())
    more = std::min(more.value_or(*mappable + variables + activations), *mappable + variables + activations);
  return more ? std::optional(*more + resident_memory()) : std::nullopt;
}

MemoryReport report_memory(CheckedExperiment& checked) {
  const Experiment& e = checked.experiment();
  const TrainerMemory memory = e.trainer->part<StepPrograms>().memory();
  MemoryReport report;
  report.program = checked.program_bytes() + kOnlyInTraining;
  report.data = checked.data_bytes();
  report.variables = memory.variables;
  report.activations = memory.activations;
  report.constants = memory.constants;
  if (const DataFlow* train = e.train_flow()) {
    const auto towers = static_cast<uint64_t>(e.trainer->part<StepData>().step_size().towers);
    const auto held = static_cast<uint64_t>(e.input->batches_in_memory(train->settings()));
    report.batches = towers * held * bytes_of_batch(*train);
  }
  report.passing = std::max(bytes_of_evaluation(e), bytes_of_checkpoint(*e.trainer));
  return report;
}

}  // namespace tpack
