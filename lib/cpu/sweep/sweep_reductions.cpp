#include "cpu/sweep/sweep_reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/sweep/simd.h"
#include "cpu/sweep/simd_moments.h"

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
    sizes_.push_back(static_cast<int64_t>(sweep_format(spec, layout).bytes() / sizeof(float)));
    counts_.push_back(static_cast<double>(op.shape().elements()) /
                      static_cast<double>(spec.shape.elements()));
    // Channels of padding are summed too; their sums are ignored.
    const int64_t room = sizes_.back() + (plan.padded_axis >= 0 ? 16 : 0);
    rooms_.push_back((room + 15) / 16 * 16);
    if (const size_t twin = twin_of(k); twin < k) {
      offsets_.push_back(offsets_[twin]);
      continue;
    }
    offsets_.push_back(totals_size_);
    totals_size_ += rooms_.back() * (is_moment(k) ? 4 : 1);
  }
}

/// The first one with the same totals: that of the variance for a mean, or the other way round.
size_t SweepReductions::twin_of(size_t k) const {
  size_t twin = 0;
  const auto is_twin = [&](size_t other) {
    return is_moment(k) && is_moment(other) && reductions_[other].value == reductions_[k].value &&
           reductions_[other].axes == reductions_[k].axes;
  };
  while (twin < k && !is_twin(twin)) ++twin;
  return twin;
}

float SweepReductions::neutral(size_t k) const {
  return is_sum(k) ? 0.0F : -std::numeric_limits<float>::infinity();
}

SweepReductions::Accumulators SweepReductions::begin(float* memory, int64_t tile) const {
  Accumulators a;
  a.sums = memory;
  a.totals = memory + static_cast<int64_t>(count()) * tile;
  a.sum_at.fill(-1);
  for (size_t k = 0; k < count(); ++k)
    simd::fill(neutral(k), a.totals + offsets_[k], static_cast<size_t>(rooms_[k] * (is_moment(k) ? 4 : 1)));
  return a;
}

void SweepReductions::reduce(size_t k, const float* x, bool uniform, const SweepTile& tile,
                             Accumulators& a) const {
  if (is_moment(k)) return add_moments(k, x, uniform, tile, a);
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
  if (steps[last - 1] == 0 && steps[last] <= 1) {
    float* sums = sums_of(k, tile, a);
    const auto n = static_cast<size_t>(tile.elements());
    return sum ? simd::add_to(x, sums, n) : simd::max_to(x, sums, n);
  }
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

void SweepReductions::add_moments(size_t k, const float* x, bool uniform, const SweepTile& tile,
                                  Accumulators& a) const {
  if (twin_of(k) < k) return;
  const Steps& steps = plan_.reductions[k];
  const int64_t row_step = steps[plan_.sizes.size() - 2];
  const int64_t step = steps[plan_.sizes.size() - 1];
  double* sum = reinterpret_cast<double*>(a.totals + offsets_[k]) + plan_.offset(steps, tile);
  double* squares = sum + rooms_[k];
  const auto rows = static_cast<size_t>(tile.rows);
  const auto columns = static_cast<size_t>(tile.columns);
  if (uniform || step > 1) {  // rare
    for (int64_t i = 0; i < tile.elements(); ++i) {
      const int64_t place = i / tile.columns * row_step + i % tile.columns * step;
      simd::add_moments(x + (uniform ? 0 : i), 1, 1, sum + place, squares + place);
    }
  } else if (row_step == 0) {
    simd::add_moments(x, step == 0 ? rows * columns : rows, step == 0 ? 1 : columns, sum, squares);
  } else {
    for (size_t row = 0; row < rows; ++row) {
      simd::add_moments(x + row * columns, step == 0 ? columns : 1, step == 0 ? 1 : columns, sum, squares);
      sum += row_step;
      squares += row_step;
    }
  }
}

/// An element of a mean or variance. In double, the squares of floats are exact, so their mean may be much
/// larger than the variance.
float SweepReductions::from_moments(size_t k, const float* totals, uint64_t stride, int pieces,
                                    int64_t result) const {
  double sum = 0;
  double squares = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    const auto* part =
        reinterpret_cast<const double*>(totals + static_cast<uint64_t>(piece) * stride + offsets_[k]) +
        result;
    sum += part[0];
    squares += part[rooms_[k]];
  }
  const double mean = sum / counts_[k];
  const double variance = squares / counts_[k] - mean * mean;
  const double value = reductions_[k].kind == Reduction::kMean ? mean : variance;
  return static_cast<float>(value < 0 && reductions_[k].kind == Reduction::kVariance ? 0 : value);
}

bool SweepReductions::adds_tiles(size_t k) const {
  const Steps& steps = plan_.reductions[k];
  const size_t last = plan_.sizes.size() - 1;
  return reductions_[k].kind == Reduction::kSum && steps[last - 1] == 0 && steps[last] <= 1;
}

/// Rows are added onto one another, element by element, into an accumulator as large as a tile, which is
/// folded only when the place of the result changes. Each slot adds few numbers, so rounding errors stay
/// small.
float* SweepReductions::sums_of(size_t k, const SweepTile& tile, Accumulators& a) const {
  const int64_t at = plan_.offset(plan_.reductions[k], tile);
  float* sums = a.sums + static_cast<int64_t>(k) * plan_.tile_room();
  if (a.sum_at[k] != at) {
    fold(k, a);
    simd::fill(neutral(k), sums, static_cast<size_t>(plan_.tile_room()));
    a.sum_at[k] = at;
    a.sum_columns[k] = tile.columns;
  }
  return sums;
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
      if (is_moment(k)) {
        out[i] = from_moments(k, totals, stride, pieces, i);
        continue;
      }
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
