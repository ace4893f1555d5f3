#include "cpu/sweep_reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/simd.h"

namespace tpack::cpu {
namespace {

/// NaN if one of them is.
template <class T>
T larger(T a, T b) {
  return b > a || std::isnan(b) ? b : a;
}

}  // namespace

SweepReductions::SweepReductions(const Sweep& op, const Node& node, Layout layout, const SweepPlan& plan)
    : plan_(plan), reductions_(op.reductions()) {
  for (size_t k = 0; k < count(); ++k) {
    const TensorSpec& spec = node.outputs[op.expression().results.size() + k];
    offsets_.push_back(totals_size_);
    sizes_.push_back(static_cast<int64_t>(sweep_format(spec, layout).bytes() / sizeof(float)));
    // Channels of padding are summed too; their sums are ignored.
    const int64_t room = sizes_.back() + (plan.padded_axis >= 0 ? 16 : 0);
    totals_size_ += (room + 15) / 16 * 16;
  }
}

float SweepReductions::neutral(size_t k) const {
  return is_sum(k) ? 0.0F : -std::numeric_limits<float>::infinity();
}

SweepReductions::Accumulators SweepReductions::begin(float* memory, int64_t tile) const {
  Accumulators a;
  a.sums = memory;
  a.totals = memory + static_cast<int64_t>(count()) * tile;
  a.sum_at.fill(-1);
  for (size_t k = 0; k < count(); ++k) {
    const int64_t end = k + 1 < count() ? offsets_[k + 1] : totals_size_;
    simd::fill(neutral(k), a.totals + offsets_[k], static_cast<size_t>(end - offsets_[k]));
  }
  return a;
}

void SweepReductions::reduce(size_t k, const float* x, bool uniform, const SweepTile& tile,
                             Accumulators& a) const {
  const Steps& steps = plan_.reductions[k];
  const size_t last = plan_.sizes.size() - 1;
  const int64_t at = plan_.offset(steps, tile);
  const bool sum = is_sum(k);
  float* totals = a.totals + offsets_[k];
  if (uniform) {  // rare: the sum of a number that was broadcast
    for (int64_t i = 0; i < tile.elements(); ++i) {
      float& total = totals[at + i / tile.columns * steps[last - 1] + i % tile.columns * steps[last]];
      total = sum ? total + x[0] : larger(total, x[0]);
    }
    return;
  }
  if (steps[last - 1] == 0 && steps[last] <= 1) return accumulate(k, x, at, tile, a);
  for (int64_t row = 0; row < tile.rows; ++row) {
    const float* from = x + row * tile.columns;
    float* to = totals + at + row * steps[last - 1];
    const auto n = static_cast<size_t>(tile.columns);
    if (steps[last] == 0) {
      *to = sum ? *to + simd::sum(from, n) : larger(*to, simd::max(from, n));
    } else if (steps[last] == 1) {
      sum ? simd::add_to(from, to, n) : simd::max_to(from, to, n);
    } else {
      for (int64_t i = 0; i < tile.columns; ++i)
        to[i * steps[last]] = sum ? to[i * steps[last]] + from[i] : larger(to[i * steps[last]], from[i]);
    }
  }
}

/// Rows are added onto one another, element by element, into an accumulator as large as a tile, which is
/// folded only when the place of the result changes. Each slot adds few numbers, so rounding errors stay
/// small.
void SweepReductions::accumulate(size_t k, const float* x, int64_t at, const SweepTile& tile,
                                 Accumulators& a) const {
  float* sums = a.sums + static_cast<int64_t>(k) * plan_.tile_room();
  if (a.sum_at[k] != at) {
    fold(k, a);
    simd::fill(neutral(k), sums, static_cast<size_t>(plan_.tile_room()));
    a.sum_at[k] = at;
    a.sum_columns[k] = tile.columns;
  }
  const auto n = static_cast<size_t>(tile.elements());
  is_sum(k) ? simd::add_to(x, sums, n) : simd::max_to(x, sums, n);
}

/// Halves the rows until few are left, so that each sum is a tree; the last rows are added in double.
void SweepReductions::fold(size_t k, Accumulators& a) const {
  constexpr int64_t kFew = 8;
  if (a.sum_at[k] < 0) return;
  const auto add = is_sum(k) ? simd::add_to : simd::max_to;
  float* sums = a.sums + static_cast<int64_t>(k) * plan_.tile_room();
  float* totals = a.totals + offsets_[k] + a.sum_at[k];
  const bool to_one = plan_.reductions[k][plan_.sizes.size() - 1] == 0;
  const int64_t stride = to_one ? 1 : a.sum_columns[k];
  int64_t rows = to_one ? plan_.tile_rows * plan_.tile_columns : plan_.tile_rows;
  while (rows > kFew) {
    const int64_t kept = rows - rows / 2;
    add(sums + kept * stride, sums, static_cast<size_t>((rows - kept) * stride));
    rows = kept;
  }
  for (int64_t column = 0; column < stride; ++column) {
    auto total = static_cast<double>(totals[column]);
    for (int64_t row = 0; row < rows; ++row) {
      const auto part = static_cast<double>(sums[column + row * stride]);
      total = is_sum(k) ? total + part : larger(total, part);
    }
    totals[column] = static_cast<float>(total);
  }
  a.sum_at[k] = -1;
}

void SweepReductions::finish(Accumulators& a) const {
  for (size_t k = 0; k < count(); ++k) fold(k, a);
}

void SweepReductions::combine(const float* totals, uint64_t stride, int pieces,
                              std::span<std::byte* const> outs) const {
  for (size_t k = 0; k < count(); ++k) {
    auto* out = reinterpret_cast<float*>(outs[k]);
    for (int64_t i = 0; i < sizes_[k]; ++i) {
      const float* part = totals + offsets_[k] + i;
      float total = *part;
      for (int piece = 1; piece < pieces; ++piece) {
        part += stride;
        total = is_sum(k) ? total + *part : larger(total, *part);
      }
      out[i] = total;
    }
  }
}

}  // namespace tpack::cpu
