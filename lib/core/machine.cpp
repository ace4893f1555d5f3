#include "core/machine.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace tpack {
namespace {

/// CPUs that a cgroup (version 2, then 1) allows, 0 for no limit.
double cgroup_processors() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" || period <= 0 ? 0 : std::stod(quota) / period;
  }
  double limit = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> limit && period_file >> period && limit > 0 && period > 0) return limit / period;
  return 0;
}

/// The number after a word in a file of lines "word number".
std::optional<uint64_t> number_after(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string at; file >> at;) {
    uint64_t number = 0;
    if (at == word && file >> number) return number;
    file.ignore(1 << 12, '\n');
  }
  return std::nullopt;
}

/// Bytes that a cgroup (version 2, then 1) leaves; nothing if there is no limit ("max").
std::optional<uint64_t> cgroup_memory() {
  struct Files {
    const char* limit;
    const char* used;
    const char* parts;
    const char* prefix;  // of the words in that file
  };
  constexpr Files kVersions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", ""},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat", "total_"}};
  for (const Files& files : kVersions) {
    uint64_t limit = 0;
    uint64_t used = 0;
    if (!(std::ifstream(files.limit) >> limit) || !(std::ifstream(files.used) >> used)) continue;
    for (const char* cache : {"inactive_file", "active_file"}) {  // what the kernel drops when it must
      used -= std::min(used, number_after(files.parts, std::string(files.prefix) + cache).value_or(0));
    }
    return limit - std::min(limit, used);
  }
  return std::nullopt;
}

}  // namespace

uint64_t resident_memory() {
  uint64_t all = 0;
  uint64_t resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Not from getrusage, which counts what the process before exec held.
uint64_t peak_resident_memory() {
  constexpr uint64_t kKiB = 1024;
  return kKiB * number_after("/proc/self/status", "VmHWM:").value_or(0);
}

std::vector<int> own_processors() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  std::vector<int> all;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(static_cast<size_t>(i), &mine)) all.push_back(i);
    }
  } else {  // more than the set has room for
    all.resize(std::max(1U, std::thread::hardware_concurrency()));
    std::iota(all.begin(), all.end(), 0);
  }
  return all;
}

size_t own_memory_nodes() {
  const std::vector<int> own = own_processors();
  size_t nodes = 0;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", failure)) {
    const auto is_here = [&](int processor) {
      return std::filesystem::exists(entry.path() / ("cpu" + std::to_string(processor)), failure);
    };
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node") && std::any_of(own.begin(), own.end(), is_here)) ++nodes;
  }
  return std::max<size_t>(1, nodes);
}

size_t available_processors() {
  size_t count = own_processors().size();
  const double limit = cgroup_processors();
  if (limit > 0) count = std::min(count, static_cast<size_t>(std::ceil(limit)));
  return std::max<size_t>(1, count);
}

std::optional<uint64_t> available_memory() {
  const auto kilobytes = number_after("/proc/meminfo", "MemAvailable:");
  if (!kilobytes) return cgroup_memory();
  const uint64_t machine = *kilobytes * 1024;
  return std::min(machine, cgroup_memory().value_or(machine));
}

void prefer_large_pages(void* memory, size_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20U;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const size_t to_first = (kLargePage - address % kLargePage) % kLargePage;
  if (bytes < to_first + kLargePage) return;
  const size_t whole = (bytes - to_first) / kLargePage * kLargePage;
  ::madvise(static_cast<char*>(memory) + to_first, whole, MADV_HUGEPAGE);  // it need not be followed
}

}  // namespace tpack
