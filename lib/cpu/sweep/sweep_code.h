#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/pointwise.h"

namespace tpack::cpu {

/// How the code of a sweep reads an input of its expression.
struct SweepSource {
  enum class Walk : uint8_t {
    kElements,  // one after the other
    kRow,       // the elements of one row, again for each row; a row has whole vectors
    kUniform    // one float for all
  };
  DType type = DType::kFloat32;
  Walk walk = Walk::kElements;
};

/// What the code of a sweep does with a register of its expression.
struct SweepSink {
  enum class Kind : uint8_t {
    kStore,  // writes it, in `type`: float32, bfloat16 or bool
    kAdd     // adds it to the floats there
  };
  int value = 0;  // the register
  Kind kind = Kind::kStore;
  DType type = DType::kFloat32;
};

/// Machine code for a pointwise expression: one pass over rows of contiguous elements, in which values in
/// between stay in registers. It rounds as simd::apply does, so the bits are the same. Threads: const.
class SweepCode {
 public:
  static constexpr size_t kMaxOperands = 24;
  enum class Instructions : uint8_t { kBest, kAvx2 };
  /// Pointers to the first elements of the sources and sinks, in order.
  struct Operands {
    std::array<const std::byte*, kMaxOperands> sources = {};
    std::array<std::byte*, kMaxOperands> sinks = {};
    int64_t rows = 1;
    int64_t columns = 0;
  };

  /// Types of sources, and of sinks.
  static constexpr bool reads(DType type) {
    return type == DType::kFloat32 || type == DType::kBFloat16 || type == DType::kInt32 ||
           type == DType::kUInt8 || type == DType::kBool;
  }
  static constexpr bool writes(DType type) {
    return type == DType::kFloat32 || type == DType::kBFloat16 || type == DType::kBool;
  }
  /// Lengths of rows of whole vectors are multiples of it.
  static constexpr int64_t kWholeVectors = 16;
  /// `columns`: of all runs, for sources of rows, which must be a multiple of kWholeVectors; otherwise any.
  /// Null if there is none: for functions such as exp, expressions with too many values alive at once,
  /// processors without AVX2 or systems that forbid it.
  static std::unique_ptr<const SweepCode> make(const pointwise::Expression& expression,
                                               std::span<const SweepSource> sources,
                                               std::span<const SweepSink> sinks, int64_t columns = 0,
                                               Instructions instructions = Instructions::kBest);
  virtual ~SweepCode() = default;
  virtual void run(const Operands& operands) const = 0;
};

}  // namespace tpack::cpu
