#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/check.h"

namespace tpack {

/// The peak memory of a training, by purpose, in bytes.
struct MemoryReport {
  uint64_t program = 0;      // program, libraries, compiled kernels: measured in this process
  uint64_t data = 0;         // memory of the sources: measured in this process
  uint64_t variables = 0;    // with gradients and the optimizer's slots; this and the following of all towers
  uint64_t activations = 0;  // and scratch, of the program that needs most, including validation
  uint64_t constants = 0;
  uint64_t batches = 0;  // prepared batches for training
  uint64_t passing =
      0;  // the larger of the batches that an evaluation reads in advance and the data of a save

  uint64_t total() const { return program + data + variables + activations + constants + batches + passing; }
  /// Names and sizes of the parts, for tables and JSON.
  std::vector<std::pair<const char*, uint64_t>> parts() const;
  /// A message if a training needs more bytes than a process can get; empty if it fits.
  std::optional<std::string> shortage(uint64_t limit) const;
  /// The bytes that a process on this machine can get, with the limits of this process, which has compiled.
  std::optional<uint64_t> limit() const;
};

/// The report of an experiment with compiled programs. Errors: none.
MemoryReport report_memory(CheckedExperiment& checked);

}  // namespace tpack
