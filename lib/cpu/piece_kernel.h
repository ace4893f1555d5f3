#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/kernel.h"

namespace tpack::cpu {

/// One piece of a kernel's work: a kernel that runs on one thread, and where its operands start in the
/// operands of the whole, in bytes.
struct Piece {
  std::unique_ptr<Kernel> kernel;
  std::vector<uint64_t> in;
  std::vector<uint64_t> out;
  uint64_t scratch_bytes = 0;
};

/// An output that each piece computes completely; the result is their sum, in the order of the pieces.
struct PieceSum {
  size_t output = 0;
  uint64_t bytes = 0;
};

/// A kernel made of at least one piece, computed by a team.
class PieceKernel final : public Kernel {
 public:
  explicit PieceKernel(std::vector<Piece> pieces, const std::vector<PieceSum>& sums = {});

  uint64_t scratch_bytes() const { return scratch_bytes_; }
  void run(const KernelArgs& args) override;

 private:
  struct Pointers {
    std::vector<std::byte*> in;
    std::vector<std::byte*> out;
  };
  struct Sum {
    size_t output = 0;
    size_t elements = 0;
    uint64_t scratch = 0;  // where the sums of the pieces after the first are, one after the other
    uint64_t step = 0;     // bytes from one to the next
  };

  void run_piece(const KernelArgs& args, size_t number);
  static std::byte* sum_of(const KernelArgs& args, const Sum& sum, size_t piece) {
    return args.scratch + sum.scratch + (piece - 1) * sum.step;
  }
  void add(const KernelArgs& args, const Sum& sum) const;

  std::vector<Piece> pieces_;
  std::vector<Pointers> pointers_;  // by piece, so that a run allocates nothing
  std::vector<Sum> sums_;
  uint64_t piece_scratch_ = 0;
  uint64_t scratch_bytes_ = 0;
};

}  // namespace tpack::cpu
