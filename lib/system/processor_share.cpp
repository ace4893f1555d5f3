#include "system/processor_share.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include "system/file_io.h"
#include "system/machine.h"

namespace tpack {
namespace {

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::optional<double> busy_seconds(const std::string& stat, const std::vector<int>& processors) {
  // user nice system idle iowait irq softirq steal
  constexpr std::array<bool, 8> kIsBusy = {true, true, true, false, false, true, true, true};
  std::istringstream lines(stat);
  double ticks = 0;
  size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const auto is_own = [&](int number) { return name == "cpu" + std::to_string(number); };
    if (std::none_of(processors.begin(), processors.end(), is_own)) continue;
    ++found;
    double value = 0;
    for (const bool busy : kIsBusy) {
      if (!(words >> value)) return std::nullopt;
      if (busy) ticks += value;
    }
  }
  if (found == 0 || found != processors.size()) return std::nullopt;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double share_of_others(double busy, double own, double seconds, size_t processors) {
  return std::clamp((busy - own) / (seconds * static_cast<double>(processors)), 0.0, 1.0);
}

ProcessorShare::ProcessorShare()
    : processors_(allowed_cpus()),
      busy_at_start_(busy_seconds(read_whole_file("/proc/stat").value_or(""), processors_)),
      own_at_start_(own_seconds()) {}

std::optional<double> ProcessorShare::stolen() const {
  constexpr double kMinSeconds = 0.5;
  const double seconds = watch_.seconds();
  if (!busy_at_start_ || seconds < kMinSeconds) return std::nullopt;
  const auto busy = busy_seconds(read_whole_file("/proc/stat").value_or(""), processors_);
  if (!busy) return std::nullopt;
  return share_of_others(*busy - *busy_at_start_, own_seconds() - own_at_start_, seconds, processors_.size());
}

}  // namespace tpack
