#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/check.h"

namespace tpack {

/// The most memory that a training will hold, by what holds it. All figures are bytes.
struct MemoryReport {
  uint64_t program = 0;      // program, libraries, compiled kernels: measured in this process
  uint64_t data = 0;         // what the sources keep: measured in this process
  uint64_t variables = 0;    // with gradients and the optimizer's slots; this and what follows of all towers
  uint64_t activations = 0;  // and scratch, of the program that needs most, validation included
  uint64_t constants = 0;
  uint64_t batches = 0;  // made ahead for training
  uint64_t passing = 0;  // the larger of what an evaluation reads ahead and what a save puts together

  uint64_t total() const { return program + data + variables + activations + constants + batches + passing; }
  /// Names and figures of the parts, for tables and JSON.
  std::vector<std::pair<const char*, uint64_t>> parts() const;
  /// What to say if a training needs more than the bytes that a process can get; nothing if it fits.
  std::optional<std::string> shortage(uint64_t limit) const;
  /// The bytes that a process on this machine, with the limits of this one, which has compiled, can get.
  std::optional<uint64_t> limit() const;
};

/// Of an experiment whose programs were compiled. Errors: none.
MemoryReport report_memory(CheckedExperiment& checked);

}  // namespace tpack
