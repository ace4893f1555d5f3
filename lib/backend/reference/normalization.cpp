#include <cmath>
#include <limits>

#include "backend/reference/kernel.h"
#include "ops/batch_norm.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

/// Calls f(channel, element) for each element of [N, C, ...].
template <class F>
void for_each_channel_element(const Shape& x, F&& f) {
  const int64_t channels = x[1];
  const int64_t inner = x.elements() / (x[0] * channels);
  for (int64_t plane = 0; plane < x[0] * channels; ++plane)
    for (int64_t i = 0; i < inner; ++i) f(static_cast<size_t>(plane % channels), plane * inner + i);
}

void batch_norm(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const double epsilon = op_cast<BatchNorm>(n)->params().epsilon;
  const Shape& shape = in[0].shape();
  const auto channels = static_cast<size_t>(shape[1]);
  const double count = static_cast<double>(shape.elements()) / static_cast<double>(shape[1]);
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    std::vector<double> mean(channels);
    std::vector<double> variance(channels);
    for_each_channel_element(shape,
                             [&](size_t c, int64_t i) { mean[c] += static_cast<double>(x[i]) / count; });
    for_each_channel_element(shape, [&](size_t c, int64_t i) {
      const double d = static_cast<double>(x[i]) - mean[c];
      variance[c] += d * d / count;
    });
    for_each_channel_element(shape, [&](size_t c, int64_t i) {
      const double normalized = (static_cast<double>(x[i]) - mean[c]) / std::sqrt(variance[c] + epsilon);
      out[0].data<T>()[i] =
          static_cast<T>(normalized * in[1].at(static_cast<int64_t>(c)) + in[2].at(static_cast<int64_t>(c)));
    });
    for (size_t c = 0; c < channels; ++c) {
      out[1].data<T>()[c] = static_cast<T>(mean[c]);
      out[2].data<T>()[c] = static_cast<T>(variance[c]);
    }
  });
}

void batch_norm_gradient(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const double epsilon = op_cast<BatchNormGradient>(n)->params().epsilon;
  const Shape& shape = in[0].shape();
  const auto channels = static_cast<size_t>(shape[1]);
  const double count = static_cast<double>(shape.elements()) / static_cast<double>(shape[1]);
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    const T* dy = in[4].data<T>();
    std::vector<double> dgamma(channels);
    std::vector<double> dbeta(channels);
    const auto inverse = [&](size_t c) { return 1 / std::sqrt(in[3].at(static_cast<int64_t>(c)) + epsilon); };
    const auto normalized = [&](size_t c, int64_t i) {
      return (static_cast<double>(x[i]) - in[2].at(static_cast<int64_t>(c))) * inverse(c);
    };
    for_each_channel_element(shape, [&](size_t c, int64_t i) {
      dgamma[c] += static_cast<double>(dy[i]) * normalized(c, i);
      dbeta[c] += static_cast<double>(dy[i]);
    });
    for_each_channel_element(shape, [&](size_t c, int64_t i) {
      const double centered =
          static_cast<double>(dy[i]) - dbeta[c] / count - normalized(c, i) * dgamma[c] / count;
      out[0].data<T>()[i] = static_cast<T>(in[1].at(static_cast<int64_t>(c)) * inverse(c) * centered);
    });
    for (size_t c = 0; c < channels; ++c) {
      out[1].data<T>()[c] = static_cast<T>(dgamma[c]);
      out[2].data<T>()[c] = static_cast<T>(dbeta[c]);
    }
  });
}

/// Largest logit and log of the sum of exp(logit - largest) of one row.
template <class T>
std::pair<double, double> log_sum(const T* row, int64_t classes) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < classes; ++c) largest = std::max(largest, static_cast<double>(row[c]));
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(row[c]) - largest);
  return {largest, std::log(sum)};
}

void cross_entropy(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t classes = in[0].shape()[1];
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < in[1].elements(); ++i) {
      const T* row = in[0].data<T>() + i * classes;
      const int64_t label = in[1].data<int32_t>()[i];
      const auto [largest, log_of_sum] = log_sum(row, classes);
      const bool known = label >= 0 && label < classes;
      out[0].data<T>()[i] = known ? static_cast<T>(log_of_sum + largest - static_cast<double>(row[label]))
                                  : std::numeric_limits<T>::quiet_NaN();
    }
  });
}

void cross_entropy_gradient(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t classes = in[0].shape()[1];
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < in[1].elements(); ++i) {
      const T* row = in[0].data<T>() + i * classes;
      const auto [largest, log_of_sum] = log_sum(row, classes);
      for (int64_t c = 0; c < classes; ++c) {
        const double probability = std::exp(static_cast<double>(row[c]) - largest - log_of_sum);
        const double target = in[1].data<int32_t>()[i] == c ? 1 : 0;
        out[0].data<T>()[i * classes + c] = static_cast<T>((probability - target) * in[2].at(i));
      }
    }
  });
}

const Registration kBatchNorm("BatchNorm", batch_norm);
const Registration kBatchNormGradient("BatchNormGradient", batch_norm_gradient);
const Registration kCrossEntropy("SoftmaxCrossEntropy", cross_entropy);
const Registration kCrossEntropyGradient("SoftmaxCrossEntropyGradient", cross_entropy_gradient);

}  // namespace
}  // namespace tpack::reference
