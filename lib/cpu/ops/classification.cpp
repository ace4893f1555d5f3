#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "cpu/sweep/simd.h"
#include "ops/in_top_k.h"
#include "ops/one_hot.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack::cpu {
namespace {

constexpr int64_t kScoreGrain = 4096;   // scores that are worth waking a thread for
constexpr int64_t kBlockScores = 1024;  // whose exponentials are computed by one call
constexpr int64_t kFewClasses = 16;     // for which a call takes longer than a loop

struct Rows {
  int64_t count;
  int64_t classes;
  int pieces;

  int64_t of_block() const { return std::max<int64_t>(1, kBlockScores / classes); }
  uint64_t block_floats() const { return static_cast<uint64_t>(of_block() * classes + 16); }

  /// Calls `f` for blocks of rows.
  template <class F>
  void each_block(Team* team, const F& f) const {
    parallel_for(team, pieces, count, std::max<int64_t>(1, kScoreGrain / classes),
                 [&](int64_t begin, int64_t end, int piece) {
                   for (int64_t at = begin; at < end; at += of_block())
                     f(at, std::min(end, at + of_block()), piece);
                 });
  }
  template <class F>
  void each(Team* team, const F& f) const {
    each_block(team, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t row = begin; row < end; ++row) f(row);
    });
  }
};

Rows rows_of(const KernelRequest& r) {
  const Shape& scores = r.node.inputs[0].shape();
  return {scores[0], scores[1], r.pieces};
}

float largest_of(const float* x, int64_t classes) {
  return classes > kFewClasses ? simd::max(x, static_cast<size_t>(classes))
                               : *std::max_element(x, x + classes);
}

float sum_of(const float* x, int64_t classes) {
  return classes > kFewClasses ? simd::sum(x, static_cast<size_t>(classes))
                               : std::accumulate(x, x + classes, 0.0F);
}

void scale(float* x, int64_t classes, float factor) {
  if (classes > kFewClasses)
    return simd::apply(pointwise::Fn::kMul, {x, false}, {&factor, true}, {}, x, static_cast<size_t>(classes));
  for (int64_t c = 0; c < classes; ++c) x[c] *= factor;
}

/// powers[c] = exp(x[c] - the largest score of the row), for some rows.
void exponentials(const float* x, int64_t rows, int64_t classes, float* powers) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * classes;
    float* to = powers + row * classes;
    const float largest = largest_of(from, classes);
    for (int64_t c = 0; c < classes; ++c) to[c] = from[c] - largest;
  }
  simd::apply(pointwise::Fn::kExp, {powers, false}, {}, {}, powers, static_cast<size_t>(rows * classes));
}

struct Powers {
  float of_label = 0;  // 0 for a label that there is not
  float of_others = 0;

  float sum() const { return of_label + of_others; }
};

/// Those of the other classes are summed alone: for a sample that the model is sure of, their sum has the
/// digits that it would lose next to the 1 of the label. The power of the label is 0 afterwards.
Powers sums_of(float* powers, int64_t classes, int64_t label) {
  Powers found;
  if (label >= 0 && label < classes) found.of_label = std::exchange(powers[label], 0.0F);
  found.of_others = sum_of(powers, classes);
  return found;
}

float loss_of(const float* x, float* powers, int64_t classes, int64_t label) {
  const Powers found = sums_of(powers, classes, label);
  if (label < 0 || label >= classes) return std::numeric_limits<float>::quiet_NaN();
  const float largest = largest_of(x, classes);
  if (x[label] == largest) return std::log1p(found.of_others);
  return std::log(found.sum()) + (largest - x[label]);
}

PreparedKernel cross_entropy(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  const uint64_t scratch = static_cast<uint64_t>(r.pieces) * rows.block_floats() * sizeof(float);
  const auto run = [rows](const KernelArgs& args) {
    const auto* labels = reinterpret_cast<const int32_t*>(args.in[1]);
    auto* losses = reinterpret_cast<float*>(args.out[0]);
    rows.each_block(team_of(args), [&](int64_t begin, int64_t end, int piece) {
      const float* x = reinterpret_cast<const float*>(args.in[0]) + begin * rows.classes;
      float* powers =
          reinterpret_cast<float*>(args.scratch) + static_cast<uint64_t>(piece) * rows.block_floats();
      exponentials(x, end - begin, rows.classes, powers);
      for (int64_t row = begin; row < end; ++row, x += rows.classes, powers += rows.classes)
        losses[row] = loss_of(x, powers, rows.classes, labels[row]);
    });
  };
  return plain_kernel(r, make_kernel(run), scratch);
}

PreparedKernel cross_entropy_gradient(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  return plain_kernel(r, make_kernel([rows](const KernelArgs& args) {
                        const auto* labels = reinterpret_cast<const int32_t*>(args.in[1]);
                        const auto* dloss = reinterpret_cast<const float*>(args.in[2]);
                        rows.each_block(team_of(args), [&](int64_t begin, int64_t end, int /*piece*/) {
                          const float* x = reinterpret_cast<const float*>(args.in[0]) + begin * rows.classes;
                          float* dx = reinterpret_cast<float*>(args.out[0]) + begin * rows.classes;
                          exponentials(x, end - begin, rows.classes, dx);
                          for (int64_t row = begin; row < end; ++row, dx += rows.classes) {
                            const int64_t label = labels[row];
                            const Powers found = sums_of(dx, rows.classes, label);
                            const float factor = dloss[row] / found.sum();
                            scale(dx, rows.classes, factor);
                            if (label >= 0 && label < rows.classes) dx[label] = -factor * found.of_others;
                          }
                        });
                      }));
}

PreparedKernel in_top_k(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  const int64_t k = op_cast<InTopK>(r.node)->params().k;
  return plain_kernel(r, make_kernel([rows, k](const KernelArgs& args) {
                        rows.each(team_of(args), [&](int64_t row) {
                          const float* x = reinterpret_cast<const float*>(args.in[0]) + row * rows.classes;
                          const int64_t label = reinterpret_cast<const int32_t*>(args.in[1])[row];
                          bool known = label >= 0 && label < rows.classes;
                          int64_t not_worse = 0;
                          for (int64_t c = 0; known && c < rows.classes; ++c) {
                            known = std::isfinite(x[c]);
                            not_worse += x[c] >= x[label] ? 1 : 0;  // the label itself is one of them
                          }
                          reinterpret_cast<float*>(args.out[0])[row] = known && not_worse <= k ? 1.0F : 0.0F;
                        });
                      }));
}

PreparedKernel one_hot(const KernelRequest& r) {
  const int64_t classes = r.node.outputs[0].shape[1];
  const int64_t count = r.node.outputs[0].shape[0];
  return plain_kernel(r, make_kernel([classes, count](const KernelArgs& args) {
                        auto* y = reinterpret_cast<float*>(args.out[0]);
                        std::memset(y, 0, static_cast<size_t>(count * classes) * sizeof(float));
                        for (int64_t i = 0; i < count; ++i) {
                          const int64_t label = reinterpret_cast<const int32_t*>(args.in[0])[i];
                          if (label >= 0 && label < classes) y[i * classes + label] = 1;
                        }
                      }));
}

const KernelRegistration kCrossEntropy("SoftmaxCrossEntropy", cross_entropy, LayoutRule::kPlain);
const KernelRegistration kCrossEntropyGradient("SoftmaxCrossEntropyGradient", cross_entropy_gradient,
                                               LayoutRule::kPlain);
const KernelRegistration kInTopK("InTopK", in_top_k, LayoutRule::kPlain);
const KernelRegistration kOneHot("OneHot", one_hot, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
