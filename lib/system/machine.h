#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tpack {

/// The processors of this process's affinity mask; all of the machine if the system does not tell.
std::vector<int> allowed_cpus();

/// How many groups with a memory of their own (NUMA nodes) the processors of this process are in; at least 1.
size_t own_memory_nodes();

/// What the control groups of a process allow: its own and those around it, of version 1 or 2. A member
/// without a value is not limited.
struct CgroupLimits {
  std::optional<double> processors;     // the CPU quota
  std::optional<uint64_t> memory_left;  // bytes, caches that the kernel can drop included
};
/// `own`: which groups these are; `root`: where they are mounted. Source: cgroups(7).
CgroupLimits cgroup_limits(const std::filesystem::path& own = "/proc/self/cgroup",
                           const std::filesystem::path& root = "/sys/fs/cgroup");

/// Number of processors this process may use: the affinity mask, limited by the CPU quotas of its cgroups; at
/// least 1.
size_t available_processors();

/// Bytes of memory that this process can still get without others losing theirs: what the kernel has for it
/// (caches that it can drop included, swap not), limited by its cgroups. Nothing if the kernel does not
/// say.
std::optional<uint64_t> available_memory();

/// Bytes that the limits of this process itself (`ulimit -v` and `-d`) still let it map, touched or not;
/// nothing if it has none.
std::optional<uint64_t> mappable_memory();

/// Bytes of memory that this process holds: program, libraries, heap. 0 if the kernel does not say.
uint64_t resident_memory();

/// The part of them that no file backs: heap, stacks, and what was written to private mappings.
uint64_t anonymous_memory();

/// The most that it has held so far; 0 if the kernel does not say.
uint64_t peak_resident_memory();

/// Advises the kernel to back memory that nothing has touched yet with large pages (2 MB), those that lie
/// wholly inside: filling tens of megabytes costs hundreds of times fewer page faults.
void prefer_large_pages(void* memory, size_t bytes);

}  // namespace tpack
