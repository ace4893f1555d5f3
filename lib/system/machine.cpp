#include "system/machine.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "core/text.h"

namespace tpack {
namespace {

constexpr uint64_t kKiB = 1024;

/// The number after a word in a file of lines "word number".
std::optional<uint64_t> number_after(const std::filesystem::path& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string at; file >> at;) {
    uint64_t number = 0;
    if (at == word && file >> number) return number;
    file.ignore(1 << 12, '\n');
  }
  return std::nullopt;
}

/// From a process's cgroup up to the root: the limits of all of them apply. `line` of /proc/PID/cgroup:
/// "ID:CONTROLLERS:PATH", without controllers for version 2. A container may see its own cgroup as the root
/// and the path from outside; missing files are skipped.
std::vector<std::filesystem::path> folders_of(const std::string& line, const std::filesystem::path& root) {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path path = line.substr(line.find(':', line.find(':') + 1) + 1);
  for (; path.has_relative_path(); path = path.parent_path()) folders.push_back(root / path.relative_path());
  folders.push_back(root);
  return folders;
}

/// The number of CPUs that one cgroup (version 2 or 1) allows; nothing if it has no limit.
std::optional<double> processors_of(const std::filesystem::path& folder) {
  std::string quota;
  double limit = 0;
  double period = 0;
  if (std::ifstream file(folder / "cpu.max"); file >> quota >> period) {
    if (quota == "max") return std::nullopt;
    limit = std::stod(quota);
  } else if (!(std::ifstream(folder / "cpu.cfs_quota_us") >> limit) ||
             !(std::ifstream(folder / "cpu.cfs_period_us") >> period)) {
    return std::nullopt;
  }
  if (limit <= 0 || period <= 0) return std::nullopt;
  return limit / period;
}

/// The remaining bytes of one cgroup (version 2 or 1); nothing if it has no limit ("max").
std::optional<uint64_t> memory_of(const std::filesystem::path& folder) {
  struct Files {
    const char* limit;
    const char* used;
    const char* prefix;  // of the words in memory.stat
  };
  constexpr Files kVersions[] = {{"memory.max", "memory.current", ""},
                                 {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}};
  for (const Files& files : kVersions) {
    uint64_t limit = 0;
    uint64_t used = 0;
    if (!(std::ifstream(folder / files.limit) >> limit) || !(std::ifstream(folder / files.used) >> used))
      continue;
    for (const char* cache : {"inactive_file", "active_file"}) {  // caches that the kernel can drop
      const std::string word = std::string(files.prefix) + cache;
      used -= std::min(used, number_after(folder / "memory.stat", word).value_or(0));
    }
    return limit - std::min(limit, used);
  }
  return std::nullopt;
}

template <typename T>
void lower(std::optional<T>& least, const std::optional<T>& other) {
  if (other && (!least || *other < *least)) least = other;
}

}  // namespace

CgroupLimits cgroup_limits(const std::filesystem::path& own, const std::filesystem::path& root) {
  CgroupLimits limits;
  std::ifstream file(own);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool is_version_2 = parts[1].empty();  // all controllers are in one tree
    const std::vector<std::string> controllers = split(parts[1], ',');
    const auto folders = [&](const char* controller) {
      if (is_version_2) return folders_of(line, root);
      const bool is_there = std::ranges::find(controllers, controller) != controllers.end();
      return is_there ? folders_of(line, root / controller) : std::vector<std::filesystem::path>();
    };
    for (const auto& folder : folders("cpu")) lower(limits.processors, processors_of(folder));
    for (const auto& folder : folders("memory")) lower(limits.memory_left, memory_of(folder));
  }
  return limits;
}

uint64_t resident_memory() {
  uint64_t all = 0;
  uint64_t resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t anonymous_memory() { return kKiB * number_after("/proc/self/status", "RssAnon:").value_or(0); }

/// Not from getrusage, which includes the process before exec.
uint64_t peak_resident_memory() { return kKiB * number_after("/proc/self/status", "VmHWM:").value_or(0); }

std::vector<int> allowed_cpus() {
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
  const std::vector<int> own = allowed_cpus();
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
  size_t count = allowed_cpus().size();
  if (const auto limit = cgroup_limits().processors)
    count = std::min(count, static_cast<size_t>(std::ceil(*limit)));
  return std::max<size_t>(1, count);
}

std::optional<uint64_t> available_memory() {
  const auto kilobytes = number_after("/proc/meminfo", "MemAvailable:");
  std::optional<uint64_t> least = cgroup_limits().memory_left;
  if (kilobytes) lower(least, std::optional(*kilobytes * kKiB));
  return least;
}

std::optional<uint64_t> mappable_memory() {
  std::optional<uint64_t> least;
  const auto add = [&least](auto resource, const char* used) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const uint64_t mapped = kKiB * number_after("/proc/self/status", used).value_or(0);
    lower(least, std::optional<uint64_t>(limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, mapped)));
  };
  add(RLIMIT_AS, "VmSize:");
  add(RLIMIT_DATA, "VmData:");
  return least;
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
