#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace tpack {

/// Seconds for which the processors with these numbers have been busy since the machine started, including
/// time taken by a hypervisor; `stat` is the text of /proc/stat. Nothing if it is not valid.
std::optional<double> busy_seconds(const std::string& stat, const std::vector<int>& processors);

/// The share of `seconds` for which `processors` processors were busy with other processes, given that they
/// were busy for `busy` seconds in total and for `own` with this process: from 0 to 1.
double share_of_others(double busy, double own, double seconds, size_t processors);

/// Measures, from its construction, the share of time that others take on this process's processors: other
/// processes and other virtual machines.
class ProcessorShare {
 public:
  ProcessorShare();
  /// From 0 to 1. Nothing in the first half second, or if it is unknown.
  std::optional<double> stolen() const;

 private:
  std::vector<int> processors_;
  std::optional<double> busy_at_start_;
  double own_at_start_ = 0;
  Stopwatch watch_;
};

}  // namespace tpack
