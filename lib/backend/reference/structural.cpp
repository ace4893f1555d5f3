#include "graph/structural.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/reference/indexing.h"
#include "backend/reference/kernel.h"
#include "graph/pointwise.h"
#include "ops/concat.h"
#include "ops/in_top_k.h"
#include "ops/one_hot.h"
#include "ops/pad.h"
#include "ops/random_normal.h"
#include "ops/random_uniform.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

template <class T>
std::vector<T> elements_as(const Tensor& x) {
  std::vector<T> all(static_cast<size_t>(x.elements()));
  visit_any(x.dtype(), [&](auto zero) {
    std::ranges::transform(x.span<decltype(zero)>(), all.begin(), [](auto v) { return static_cast<T>(v); });
  });
  return all;
}

template <class T>
void evaluate(const pointwise::Expression& e, Tensors in, Tensors out) {
  const Shape& shape = out[0].shape();
  std::vector<std::vector<T>> inputs;
  std::vector<BroadcastIndex> places;
  for (const Tensor& x : in) {
    inputs.push_back(elements_as<T>(x));
    places.emplace_back(x.shape(), shape.rank());
  }
  std::vector<std::vector<T>> results(e.results.size());
  for (auto& result : results) result.resize(static_cast<size_t>(shape.elements()));
  std::vector<T> r(e.code.size());
  for_each_element(shape, [&](int64_t index, const Coordinates& at) {
    for (size_t i = 0; i < e.code.size(); ++i) {
      const pointwise::Instruction& c = e.code[i];
      const auto arg = [&](size_t k) { return c.args[k] < 0 ? T{} : r[static_cast<size_t>(c.args[k])]; };
      if (c.fn == pointwise::Fn::kInput) {
        const auto input = static_cast<size_t>(c.args[0]);
        r[i] = inputs[input][static_cast<size_t>(places[input](at))];
      } else if (c.fn == pointwise::Fn::kConstant) {
        r[i] = static_cast<T>(c.value);
      } else {
        r[i] = pointwise::evaluate<T>(c.fn, arg(0), arg(1), arg(2));
      }
    }
    for (size_t k = 0; k < results.size(); ++k)
      results[k][static_cast<size_t>(index)] = r[static_cast<size_t>(e.results[k])];
  });
  for (size_t k = 0; k < results.size(); ++k) {
    visit_any(out[k].dtype(), [&](auto zero) {
      std::ranges::transform(results[k], out[k].data<decltype(zero)>(),
                             [](T v) { return pointwise::stored_as<decltype(zero)>(v); });
    });
  }
}

void pointwise(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const auto& e = op_cast<pointwise::Pointwise>(n)->expression();
  if (e.is_integral(specs_of(n.inputs))) return evaluate<int64_t>(e, in, out);
  // Computed in double if any operand is float64, otherwise in float as the other backends do.
  const auto is_double = [](const Tensor& t) { return t.dtype() == DType::kFloat64; };
  if (std::any_of(in.begin(), in.end(), is_double) || std::any_of(out.begin(), out.end(), is_double)) {
    evaluate<double>(e, in, out);
  } else {
    evaluate<float>(e, in, out);
  }
}

void constant(const Node& n, Tensors /*in*/, Tensors out, const RunInfo& /*info*/) {
  const double value = op_cast<Constant>(n)->params().value;
  visit(out[0].dtype(), [&](auto zero) {
    std::ranges::fill(out[0].span<decltype(zero)>(), static_cast<decltype(zero)>(value));
  });
}

void literal(const Node& n, Tensors /*in*/, Tensors out, const RunInfo& /*info*/) {
  std::memcpy(out[0].raw(), op_cast<Literal>(n)->value().raw(), out[0].bytes());
}

void copy(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& /*info*/) {
  std::memcpy(out[0].raw(), in[0].raw(), out[0].bytes());
}

/// NaN if one of them is NaN.
double larger(double a, double b) { return b > a || std::isnan(b) ? b : a; }

void reduce(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const Reduction kind = op_cast<Reduce>(n)->params().kind;
  const double count =
      static_cast<double>(in[0].shape().elements()) / static_cast<double>(out[0].shape().elements());
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const BroadcastIndex place_of(out[0].shape(), in[0].shape().rank());
    const T* const values = in[0].data<T>();
    // Sums in double: the reference should be more exact than the compared results.
    const auto over_all = [&](double none, const auto& joined) {
      std::vector<double> total(static_cast<size_t>(out[0].elements()), none);
      for_each_element(in[0].shape(), [&](int64_t index, const auto& at) {
        const auto place = static_cast<size_t>(place_of(at));
        total[place] = joined(total[place], static_cast<double>(values[index]), place);
      });
      return total;
    };
    const auto plus = [](double sum, double x, size_t /*place*/) { return sum + x; };
    const auto most = [](double a, double x, size_t /*place*/) { return larger(a, x); };
    std::vector<double> total = kind == Reduction::kMax
                                    ? over_all(-std::numeric_limits<double>::infinity(), most)
                                    : over_all(0, plus);
    if (kind == Reduction::kMean || kind == Reduction::kVariance)
      for (double& sum : total) sum /= count;
    if (kind == Reduction::kVariance) {
      total = over_all(0, [&, mean = total](double sum, double x, size_t place) {
        return sum + (x - mean[place]) * (x - mean[place]) / count;
      });
    }
    std::transform(total.begin(), total.end(), out[0].data<T>(), [](double x) { return static_cast<T>(x); });
  });
}

void transpose(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const auto& order = op_cast<Transpose>(n)->params().order;
  const auto strides = strides_of(in[0].shape());
  const size_t width = size_of(in[0].dtype());
  for_each_element(out[0].shape(), [&](int64_t index, const auto& at) {
    int64_t from = 0;
    for (size_t i = 0; i < order.size(); ++i) from += at[i] * strides[static_cast<size_t>(order[i])];
    std::memcpy(out[0].raw() + static_cast<size_t>(index) * width,
                in[0].raw() + static_cast<size_t>(from) * width, width);
  });
}

/// Copies between a box in the larger tensor and the smaller one.
void copy_box(const Tensor& large, const Tensor& small, const std::vector<int64_t>& begin, bool into_large) {
  const auto strides = strides_of(large.shape());
  const size_t width = size_of(large.dtype());
  for_each_element(small.shape(), [&](int64_t index, const auto& at) {
    int64_t place = 0;
    for (size_t i = 0; i < begin.size(); ++i) place += (at[i] + begin[i]) * strides[i];
    std::byte* a = large.raw() + static_cast<size_t>(place) * width;
    std::byte* b = small.raw() + static_cast<size_t>(index) * width;
    std::memcpy(into_large ? a : b, into_large ? b : a, width);
  });
}

void pad(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  std::memset(out[0].raw(), 0, out[0].bytes());
  copy_box(out[0], in[0], op_cast<Pad>(n)->params().before, true);
}

void slice(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  copy_box(in[0], out[0], op_cast<Slice>(n)->params().begin, false);
}

void concat(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  for (size_t i = 0; i < in.size(); ++i) copy_box(out[0], in[i], begin_in_concat(n, i), true);
}

void one_hot(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t classes = out[0].shape()[1];
  std::memset(out[0].raw(), 0, out[0].bytes());
  by_float(out[0], [&](auto zero) {
    for (int64_t i = 0; i < in[0].elements(); ++i) {
      const int64_t label = in[0].data<int32_t>()[i];
      if (label >= 0 && label < classes) out[0].data<decltype(zero)>()[i * classes + label] = 1;
    }
  });
}

void replica_mean(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& info) {
  out[0].copy_from(in[0]);
  if (info.replicas != nullptr) info.replicas->mean(out[0]);
}

void in_top_k(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t k = op_cast<InTopK>(n)->params().k;
  const int64_t classes = in[0].shape()[1];
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < in[1].elements(); ++i) {
      const T* row = in[0].data<T>() + i * classes;
      const int64_t label = in[1].data<int32_t>()[i];
      const bool known = label >= 0 && label < classes &&
                         std::all_of(row, row + classes, [](T x) { return std::isfinite(x); });
      // The label's own score is also counted.
      const int64_t not_worse =
          known ? std::count_if(row, row + classes, [&](T x) { return x >= row[label]; }) : k + 1;
      out[0].data<T>()[i] = not_worse <= k ? T{1} : T{0};
    }
  });
}

using RandomElement = float (*)(uint64_t key, uint64_t index);

template <RandomElement kElement>
void random(const Node& n, Tensors /*in*/, Tensors out, const RunInfo& info) {
  const uint64_t key = random_key(info, n.path);
  by_float(out[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out[0].elements(); ++i)
      out[0].data<T>()[i] = static_cast<T>(kElement(key, static_cast<uint64_t>(i)));
  });
}

const Registration kPointwise("Pointwise", pointwise);
const Registration kConstant("Constant", constant);
const Registration kLiteral("Literal", literal);
const Registration kReshape("Reshape", copy);
const Registration kStopGradient("StopGradient", copy);
const Registration kReduce("Reduce", reduce);
const Registration kTranspose("Transpose", transpose);
const Registration kPad("Pad", pad);
const Registration kSlice("Slice", slice);
const Registration kConcat("Concat", concat);
const Registration kOneHot("OneHot", one_hot);
const Registration kInTopK("InTopK", in_top_k);
const Registration kReplicaMean("ReplicaMean", replica_mean);
const Registration kRandomUniform("RandomUniform", random<uniform_element>);
const Registration kRandomNormal("RandomNormal", random<normal_element>);

}  // namespace
}  // namespace tpack::reference
