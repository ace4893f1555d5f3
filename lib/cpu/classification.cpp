#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "cpu/simd.h"
#include "ops/in_top_k.h"
#include "ops/one_hot.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack::cpu {
namespace {

constexpr int64_t kScoreGrain = 4096;  // scores that are worth waking a thread for

struct Rows {
  int64_t count;
  int64_t classes;
  int pieces;

  template <class F>
  void each(Team* team, const F& f) const {
    parallel_for(team, pieces, count, std::max<int64_t>(1, kScoreGrain / classes),
                 [&](int64_t begin, int64_t end, int piece) {
                   for (int64_t row = begin; row < end; ++row) f(row, piece);
                 });
  }
};

Rows rows_of(const KernelRequest& r) {
  const Shape& scores = r.node.inputs[0].shape();
  return {scores[0], scores[1], r.pieces};
}

struct Powers {
  float largest = 0;   // of the scores
  float of_label = 0;  // exp(score - largest); 0 for a label that there is not
  float of_others = 0;

  float sum() const { return of_label + of_others; }
};

/// powers[c] = exp(x[c] - largest). Those of the other classes are summed alone: for a sample that the model
/// is sure of, their sum has the digits that it would lose next to the 1 of the label.
Powers exponentials(const float* x, int64_t classes, int64_t label, float* powers) {
  const auto n = static_cast<size_t>(classes);
  Powers found{.largest = simd::max(x, n)};
  simd::apply(pointwise::Fn::kSub, {x, false}, {&found.largest, true}, {}, powers, n);
  simd::apply(pointwise::Fn::kExp, {powers, false}, {}, {}, powers, n);
  if (label >= 0 && label < classes) found.of_label = std::exchange(powers[label], 0.0F);
  found.of_others = simd::sum(powers, n);
  return found;
}

uint64_t row_scratch(const KernelRequest& r) {
  return static_cast<uint64_t>(r.pieces) * static_cast<uint64_t>(rows_of(r).classes + 16) * sizeof(float);
}

PreparedKernel cross_entropy(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  return plain_kernel(r, make_kernel([rows](const KernelArgs& args) {
                        rows.each(team_of(args), [&](int64_t row, int piece) {
                          const float* x = reinterpret_cast<const float*>(args.in[0]) + row * rows.classes;
                          float* powers =
                              reinterpret_cast<float*>(args.scratch) + piece * (rows.classes + 16);
                          const int64_t label = reinterpret_cast<const int32_t*>(args.in[1])[row];
                          const Powers found = exponentials(x, rows.classes, label, powers);
                          const bool known = label >= 0 && label < rows.classes;
                          float loss = std::numeric_limits<float>::quiet_NaN();
                          if (known && x[label] == found.largest)
                            loss = std::log1p(found.of_others);
                          else if (known)
                            loss = std::log(found.sum()) + (found.largest - x[label]);
                          reinterpret_cast<float*>(args.out[0])[row] = loss;
                        });
                      }),
                      row_scratch(r));
}

PreparedKernel cross_entropy_gradient(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  return plain_kernel(r, make_kernel([rows](const KernelArgs& args) {
                        rows.each(team_of(args), [&](int64_t row, int /*piece*/) {
                          const float* x = reinterpret_cast<const float*>(args.in[0]) + row * rows.classes;
                          float* dx = reinterpret_cast<float*>(args.out[0]) + row * rows.classes;
                          const int64_t label = reinterpret_cast<const int32_t*>(args.in[1])[row];
                          const float dloss = reinterpret_cast<const float*>(args.in[2])[row];
                          const Powers found = exponentials(x, rows.classes, label, dx);
                          const float factor = dloss / found.sum();
                          simd::apply(pointwise::Fn::kMul, {dx, false}, {&factor, true}, {}, dx,
                                      static_cast<size_t>(rows.classes));
                          if (label >= 0 && label < rows.classes) dx[label] = -factor * found.of_others;
                        });
                      }));
}

PreparedKernel in_top_k(const KernelRequest& r) {
  const Rows rows = rows_of(r);
  const int64_t k = op_cast<InTopK>(r.node)->params().k;
  return plain_kernel(r, make_kernel([rows, k](const KernelArgs& args) {
                        rows.each(team_of(args), [&](int64_t row, int /*piece*/) {
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
