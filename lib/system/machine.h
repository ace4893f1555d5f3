#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tpack {

/// The processors of this process's affinity mask; all processors of the machine if it is unknown.
std::vector<int> allowed_cpus();

/// The number of NUMA nodes with processors of this process; at least 1.
size_t own_memory_nodes();

/// Limits of the control groups of a process: its own and its parents, of version 1 or 2. A member without a
/// value is not limited.
struct CgroupLimits {
  std::optional<double> processors;     // the CPU quota
  std::optional<uint64_t> memory_left;  // bytes, caches that the kernel can drop included
};
/// `own`: the file that lists the groups; `root`: their mount point. Source: cgroups(7).
CgroupLimits cgroup_limits(const std::filesystem::path& own = "/proc/self/cgroup",
                           const std::filesystem::path& root = "/sys/fs/cgroup");

/// Number of processors this process may use: the affinity mask, limited by the CPU quotas of its cgroups; at
/// least 1.
size_t available_processors();

/// Bytes of memory that this process can still get without taking memory from others: available memory of the
/// kernel (including droppable caches, without swap), limited by its cgroups. Nothing if it is unknown.
std::optional<uint64_t> available_memory();

/// Bytes that this process may still map by its own limits (`ulimit -v` and `-d`), touched or not; nothing
/// without limits.
std::optional<uint64_t> mappable_memory();

/// Bytes of memory that this process holds: program, libraries, heap. 0 if unknown.
uint64_t resident_memory();

/// The part of them without a file behind it: heap, stacks, and written pages of private mappings.
uint64_t anonymous_memory();

/// The peak so far; 0 if unknown.
uint64_t peak_resident_memory();

/// Advises the kernel to use large pages (2 MB) for untouched memory, where they fit completely: filling tens
/// of megabytes then causes hundreds of times fewer page faults.
void prefer_large_pages(void* memory, size_t bytes);

}  // namespace tpack
