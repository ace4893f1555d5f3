#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/device.h"
#include "backend/engine/lowering.h"

namespace tpack {

/// The one block of memory that all executables of a device use in turn.
struct Arena {
  explicit Arena(Memory& its = host_memory()) : memory(its) {}

  Memory& memory;
  std::shared_ptr<Storage> block = {};
  int generation = 0;      // grows when the block moves
  std::mutex in_use = {};  // a run, or a block that moves
  uint64_t limit = 0;      // of bytes; 0: none

  bool on_host() const { return &memory == &host_memory(); }
  /// Makes the block at least this large; its content is lost if it moves. Errors: ResourceError with the
  /// requested size; the arena is then empty, unless the limit is too low.
  void reserve(uint64_t bytes);
  /// Checks whether that would work, as far as known. Errors: as reserve, but the arena does not change.
  void require_room(uint64_t bytes) const;

 private:
  void reject_above_limit(uint64_t bytes) const;
};

/// Bytes of an arena that a program needs.
uint64_t arena_bytes_of(const LoweredProgram& program);

/// Runs on the queue, in the memory of the arena, which also has the variables. `check_kernels`: each run
/// asserts the requirements of later kernels, for tests.
std::unique_ptr<Executable> make_executable(LoweredProgram program, VariableStore& store,
                                            std::shared_ptr<Arena> arena, std::shared_ptr<KernelQueue> queue,
                                            bool check_kernels = false);

}  // namespace tpack
