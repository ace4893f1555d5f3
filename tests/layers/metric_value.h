#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/cost_function.h"
#include "testkit/backend_check.h"

namespace tpack {

/// A metric of outputs of a network, which are called as `names` say, over samples: the first axis of the
/// outputs.
struct MetricOfSamples {
  std::string yaml;
  std::vector<std::string> names;
  std::vector<Tensor> samples;

  /// Where the statistic is computed.
  enum class On : uint8_t { kReference, kCpu };  // in double, in single precision

  /// Of all samples, in batches of these sizes, which `towers` take by turns.
  double value(const std::vector<int64_t>& batches, size_t towers = 1, On on = On::kReference) const {
    const std::shared_ptr<const Metric> metric = Registry<Metric>::make_item(parse_yaml(yaml, "cost.yaml"));
    std::vector<Tally> tallies;
    const testkit::Function function = [&](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
      const SumAndWeight figure = figure_of(*metric, b, names, in);
      while (tallies.size() < towers)
        tallies.emplace_back(Statistic{"x", figure.sum, figure.weight, "", figure.accumulation});
      return {figure.sum, figure.weight};
    };
    int64_t begin = 0;
    for (size_t k = 0; k < batches.size(); ++k) {
      const std::vector<Tensor> batch = part(begin, batches[k], on);
      const auto fetched = on == On::kCpu ? testkit::evaluate_on_cpu(function, batch, {})
                                          : testkit::evaluate(function, batch, DType::kFloat64);
      tallies[k % towers].add(fetched[0], fetched[1]);
      begin += batches[k];
    }
    Tally total = tallies[0];
    for (size_t k = 1; k < towers; ++k) total.add(tallies[k]);
    return total.value();
  }
  double value() const { return value({samples.at(0).shape()[0]}); }

 private:
  std::vector<Tensor> part(int64_t begin, int64_t size, On on) const {
    std::vector<Tensor> parts;
    for (const Tensor& all : samples) {
      const int64_t each = all.elements() / all.shape()[0];
      std::vector<double> values;
      for (int64_t i = begin * each; i < (begin + size) * each; ++i) values.push_back(all.at(i));
      std::vector<int64_t> sizes(all.shape().sizes().begin(), all.shape().sizes().end());
      sizes[0] = size;
      const DType type = !is_float(all.dtype()) ? all.dtype()
                         : on == On::kCpu       ? DType::kFloat32
                                                : DType::kFloat64;
      parts.push_back(Tensor::of(Shape(sizes), values).cast(type));
    }
    return parts;
  }
};

}  // namespace tpack
