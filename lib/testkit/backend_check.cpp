#include "testkit/backend_check.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace tpack::testkit {
namespace {

std::vector<Tensor> as_floats(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> floats;
  for (const Tensor& t : inputs) floats.push_back(t.dtype() == DType::kFloat64 ? t.cast(DType::kFloat32) : t);
  return floats;
}

void force(PlanSection& section, const BackendVariant& variant) {
  for (auto& [path, choice] : section.nodes) {
    choice.layout = variant.layout;
    const bool convolution = !choice.algorithm.empty();
    if (convolution && !variant.convolution.empty()) choice.algorithm = variant.convolution;
  }
}

}  // namespace

std::vector<Tensor> evaluate_on_cpu(const Function& function, const std::vector<Tensor>& inputs,
                                    const BackendVariant& variant) {
  const std::vector<Tensor> floats = as_floats(inputs);
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {.phase = variant.phase});
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < floats.size(); ++i)
    symbols.push_back(b.input("input" + std::to_string(i), floats[i].spec()));
  const std::vector<Symbol> outputs = with_gradients(function)(b, symbols);
  for (size_t i = 0; i < outputs.size(); ++i) b.fetch("output" + std::to_string(i), outputs[i]);

  const auto device = make_cpu_device("cpu:0", {.algorithm = variant.algorithm, .threads = variant.threads});
  device->create_variables(table);
  device->variables().initialize(1);
  PlanSection section;
  auto executable = device->compile(graph, section);
  if (!variant.layout.empty()) {
    force(section, variant);
    executable = device->compile(graph, section);
  }
  executable->run(floats, {});
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) results.push_back(executable->fetched(i).clone());
  return results;
}

BackendCheckResult check_backend(const Function& function, const std::vector<Tensor>& inputs,
                                 const BackendVariant& variant) {
  const std::vector<Tensor> ours = evaluate_on_cpu(function, inputs, variant);
  // The reference sees the same rounded inputs.
  std::vector<Tensor> exact;
  for (const Tensor& t : as_floats(inputs))
    exact.push_back(t.dtype() == DType::kFloat32 ? t.cast(DType::kFloat64) : t);
  const std::vector<Tensor> truth = evaluate(with_gradients(function), exact, DType::kFloat64, variant.phase);
  BackendCheckResult result;
  for (size_t k = 0; k < ours.size(); ++k) {
    double scale = 1;
    for (int64_t i = 0; i < truth[k].elements(); ++i) scale = std::max(scale, std::abs(truth[k].at(i)));
    for (int64_t i = 0; i < truth[k].elements(); ++i) {
      const double error = std::abs(ours[k].at(i) - truth[k].at(i)) / scale;
      if (error <= result.largest_error) continue;
      result.largest_error = std::isnan(error) ? HUGE_VAL : error;
      result.text = "output " + std::to_string(k) + " " + truth[k].shape().str() + ", element " +
                    std::to_string(i) + ": " + shortest(ours[k].at(i)) + ", reference " +
                    shortest(truth[k].at(i));
      if (std::isnan(error)) return result;
    }
  }
  return result;
}

}  // namespace tpack::testkit
