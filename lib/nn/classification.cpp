#include "nn/classification.h"

#include "nn/input_checks.h"
#include "ops/in_top_k.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack::nn {

Symbol cross_entropy(Builder& b, Symbol logits, Symbol labels) {
  const Symbol numbers = integers(b, labels, "labels");
  return b.reduce_mean(b.emit<SoftmaxCrossEntropy>({}, {logits, numbers}).out());
}

Symbol hits(Builder& b, Symbol logits, Symbol labels) {
  return in_top_k(b, logits, integers(b, labels, "labels"), 1);
}

Statistic cost_statistic(Builder& b, Symbol cost, int64_t samples, const std::string& name) {
  const auto count = static_cast<double>(samples);
  return {name, b.mul(cost, count), b.constant(count), name};
}

Statistic mean_statistic(Builder& b, const std::string& name, Symbol values) {
  return {name, b.reduce_sum(values), b.constant(static_cast<double>(values.shape().elements()))};
}

}  // namespace tpack::nn
