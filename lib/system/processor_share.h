#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace tpack {

/// Seconds for which the processors with these numbers have been busy since the machine started, those that a
/// hypervisor took included; `stat` is the text of /proc/stat. Nothing if it is none.
std::optional<double> busy_seconds(const std::string& stat, const std::vector<int>& processors);

/// The part of `seconds` of so many processors that was busy with others, where they were busy for `busy`
/// seconds in all and for `own` with this process: from 0 to 1.
double share_of_others(double busy, double own, double seconds, size_t processors);

/// Watches from its making on how much of the time of this process's processors others take: processes, and
/// virtual machines next to this one.
class ProcessorShare {
 public:
  ProcessorShare();
  /// From 0 to 1. Nothing in the first half second, and where the kernel does not say.
  std::optional<double> stolen() const;

 private:
  std::vector<int> processors_;
  std::optional<double> busy_at_start_;
  double own_at_start_ = 0;
  Stopwatch watch_;
};

}  // namespace tpack
