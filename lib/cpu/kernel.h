#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/engine/kernel.h"
#include "cpu/team.h"

/// The CPU backend: oneDNN for convolutions and matrix products, tpack's own sweeps (Highway) for the rest.
namespace tpack::cpu {

/// Errors: ConfigError if the chosen layout or algorithm is not available.
using Prepare = PreparedKernel (*)(const KernelRequest& request);

/// See KernelLibrary::accepts.
using Accepts = bool (*)(const Node& node, Layout layout);

/// Types of operands that a kernel takes besides float32 and smaller integers.
struct KernelTypes {
  bool int64 = false;  // oneDNN has no kernels for it
  bool half = false;   // floats of 16 bits, see KernelLibrary::takes_stored
};
inline constexpr KernelTypes kWithHalf = {.half = true};

struct KernelEntry {
  Prepare prepare = nullptr;
  LayoutRule rule = LayoutRule::kPlain;
  Accepts accepts = nullptr;  // null: every layout
  KernelTypes types = {};
};

/// Null if the op has no kernel for these types.
const KernelEntry* find_kernel(const Node& node);

/// Whether ops of that type have a kernel.
bool has_kernel(const char* op_type);

/// Adds a kernel at start-up: `const KernelRegistration kMatMul("MatMul", prepare, LayoutRule::kPlain);`
struct KernelRegistration {
  KernelRegistration(const char* op_type, Prepare prepare, LayoutRule rule, Accepts accepts = nullptr,
                     KernelTypes types = {});
};

inline constexpr int64_t kGrain = 16384;  // elements that are worth waking a thread for

/// The threads for a kernel's work; may be null for a kernel of one piece.
inline Team* team_of(const KernelArgs& args) { return static_cast<Team*>(args.queue); }

inline const float* floats(const std::byte* data) { return reinterpret_cast<const float*>(data); }
inline float* floats_out(std::byte* data) { return reinterpret_cast<float*>(data); }

}  // namespace tpack::cpu
