#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "config/yaml_reader.h"
#include "model/cost.h"
#include "testkit/gradient_check.h"

namespace tpack {

/// The figure of a metric of outputs of a network, which are called as `names` say.
inline SumAndWeight figure_of(const Metric& metric, Builder& b, const std::vector<std::string>& names,
                              std::span<const Symbol> in) {
  NetworkBuilder network(b);
  for (size_t i = 0; i < in.size(); ++i) network.add_output(names.at(i), in[i]);
  return metric.build(ModelView(b, network));
}

/// A cost or metric as a function of outputs of a network, which are called as `names` say: its only value,
/// or sum and weight.
template <class Kind>
testkit::Function function_of_outputs(const std::string& yaml, const std::vector<std::string>& names) {
  const std::shared_ptr<const Kind> made = Registry<Kind>::make_item(parse_yaml(yaml, "cost.yaml"));
  return [made, names](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
    if constexpr (std::is_same_v<Kind, Cost>) {
      NetworkBuilder network(b);
      for (size_t i = 0; i < in.size(); ++i) network.add_output(names.at(i), in[i]);
      return {made->build(ModelView(b, network)).value};
    } else {
      const SumAndWeight figure = figure_of(*made, b, names, in);
      return {figure.sum, figure.weight};
    }
  };
}

/// What is wrong with a cost or metric of these outputs; "no error".
template <class Kind>
std::string complaint_of(const std::string& yaml, const std::vector<std::string>& names,
                         const std::vector<Tensor>& values) {
  try {
    testkit::evaluate(function_of_outputs<Kind>(yaml, names), values, DType::kFloat64);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tpack
