#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/sweep/sweep_plan.h"

namespace tpack::cpu {

/// The reductions that a sweep computes along the way. Each piece sums its tiles into accumulators and totals
/// of its own; combine() adds the pieces' totals in their order. Results depend only on the shape, the layout
/// and the number of pieces.
class SweepReductions {
 public:
  /// The working memory of one piece, given by the caller.
  struct Accumulators {
    float* sums = nullptr;    // a tile of elements for each reduction
    float* totals = nullptr;  // this piece's part of every result
    std::array<int64_t, Sweep::kMaxOutputs>
        sum_at{};  // by reduction: where the sums belong, -1 if still unknown
    std::array<int64_t, Sweep::kMaxOutputs> sum_columns{};  // and how many columns of them count
  };

  SweepReductions(const Sweep& op, const Node& node, Layout layout, const SweepPlan& plan);

  size_t count() const { return reductions_.size(); }
  const SweepReduction& operator[](size_t k) const { return reductions_[k]; }
  /// Floats that a piece needs if tiles have `tile` elements.
  int64_t floats(int64_t tile) const { return static_cast<int64_t>(count()) * tile + totals_size_; }

  /// Fresh accumulators in `memory`, of floats(tile) elements.
  Accumulators begin(float* memory, int64_t tile) const;
  /// Whether reduction k is a sum that adds tiles element by element: to `sums_of`, in place of `reduce`.
  bool adds_tiles(size_t k) const;
  /// Floats to which the elements of a tile are to be added.
  float* sums_of(size_t k, const SweepTile& tile, Accumulators& a) const;
  /// Adds the values `x` of a tile to reduction k; `uniform`: x[0] for all.
  void reduce(size_t k, const float* x, bool uniform, const SweepTile& tile, Accumulators& a) const;
  /// Ends a piece's work; then its totals are complete.
  void finish(Accumulators& a) const;
  /// outs[k] = result of reduction k. `totals`: of the first piece; those of the others are `stride` apart.
  void combine(const float* totals, uint64_t stride, int pieces, std::span<std::byte* const> outs) const;

 private:
  void fold(size_t k, Accumulators& a) const;
  size_t twin_of(size_t k) const;
  void add_moments(size_t k, const float* x, bool uniform, const SweepTile& tile, Accumulators& a) const;
  float from_moments(size_t k, const float* totals, uint64_t stride, int pieces, int64_t result) const;
  float neutral(size_t k) const;
  bool is_sum(size_t k) const { return reductions_[k].kind != Reduction::kMax; }
  /// Mean and variance have totals of two doubles each: the sum and that of the squares.
  bool is_moment(size_t k) const {
    return reductions_[k].kind == Reduction::kMean || reductions_[k].kind == Reduction::kVariance;
  }

  const SweepPlan& plan_;
  std::vector<SweepReduction> reductions_;
  std::vector<int64_t> offsets_;  // of each result in a piece's totals; a mean shares those of its variance
  std::vector<int64_t> sizes_;    // of the results
  std::vector<int64_t> rooms_;    // for a result, with lanes after the last channel
  std::vector<double> counts_;    // values for each element of a result
  int64_t totals_size_ = 0;
};

}  // namespace tpack::cpu
