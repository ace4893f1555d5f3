#include "testkit/backend_check.h"

#include <algorithm>
#include <cmath>

#include "backend/open_device.h"
#include "core/text.h"
#include "graph/passes/gradient.h"

namespace tpack::testkit {
namespace {

std::vector<Tensor> as_floats(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> floats;
  for (const Tensor& t : inputs) floats.push_back(t.dtype() == DType::kFloat64 ? t.cast(DType::kFloat32) : t);
  return floats;
}

void force(PlanSection& section, const BackendVariant& variant) {
  bool found = variant.convolution.empty();
  for (auto& [path, choice] : section.nodes) {
    if (!variant.layout.empty()) choice.layout = variant.layout;
    const bool convolution = !choice.algorithm.empty();
    if (!convolution || variant.convolution.empty()) continue;
    choice.algorithm = variant.convolution;
    found = true;
  }
  TPACK_ASSERT(found, "a function without a convolution cannot be run by " + variant.convolution);
}

/// A function in a separate graph, as in training: outputs and gradients with respect to inputs are fetched,
/// gradients with respect to trainable variables are assigned to their place in the store.
class Case {
 public:
  /// `images`: inputs of four axes are images, so that a layout is chosen for them.
  Case(const Function& function, const std::vector<Tensor>& inputs, const Builder::Options& options,
       bool images = false) {
    Builder b(graph_, table_, options);
    std::vector<Symbol> wrt;
    std::vector<Symbol> fed;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "input" + std::to_string(i);
      const bool image = images && inputs[i].shape().rank() == 4;
      fed.push_back(image ? b.image_input(name, inputs[i].spec()) : b.input(name, inputs[i].spec()));
      if (is_float(inputs[i].dtype())) wrt.push_back(fed.back());
    }
    const std::vector<Symbol> outputs = function(b, fed);
    const size_t of_inputs = wrt.size();
    const std::vector<const VariableSpec*> variables = table_.trainable();
    for (const VariableSpec* variable : variables) wrt.push_back(b.read(variable->name, variable->spec));
    const Symbol cost = projection(b, outputs);
    const std::vector<Symbol> found = cost ? gradients(b, cost, wrt) : std::vector<Symbol>(wrt.size());

    for (size_t i = 0; i < outputs.size(); ++i) fetch(b, "output " + std::to_string(i), outputs[i]);
    for (size_t i = 0; i < of_inputs; ++i) {
      if (found[i]) fetch(b, "gradient of float input " + std::to_string(i), found[i]);
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      const Symbol gradient = found[of_inputs + i];
      if (gradient) b.assign(gradient_name(variables[i]->name), gradient);
    }
  }

  const Graph& graph() const { return graph_; }
  const VariableTable& table() const { return table_; }
  const std::vector<std::string>& fetches() const { return fetches_; }

 private:
  void fetch(Builder& b, const std::string& name, Symbol value) {
    b.fetch(name, value);
    fetches_.push_back(name);
  }

  Graph graph_;
  VariableTable table_;
  std::vector<std::string> fetches_;
};

/// Everything that one run leaves: what is fetched, then the store's gradients and variables.
std::vector<NamedTensor> results_of(const Case& c, const Executable& executable, const VariableStore& store) {
  std::vector<NamedTensor> results;
  for (size_t i = 0; i < c.fetches().size(); ++i)
    results.push_back({c.fetches()[i], executable.fetched(i).clone()});
  for (const VariableSpec* variable : c.table().trainable()) {
    const std::string name = gradient_name(variable->name);
    results.push_back({name, store.value(name).clone()});
  }
  for (const VariableSpec* variable : c.table().all())
    results.push_back({variable->name, store.value(variable->name).clone()});
  return results;
}

struct CpuRun {
  std::vector<NamedTensor> results;
  PlanSection plan;
  std::vector<std::string> kinds;
};

CpuRun run_on_cpu(const Function& function, const std::vector<Tensor>& inputs,
                  const BackendVariant& variant) {
  const std::vector<Tensor> floats = as_floats(inputs);
  const Case c(function, floats, {.phase = variant.phase}, !variant.layout.empty());
  const auto device = open_device("cpu:0", DeviceOptions{.algorithm = variant.algorithm,
                                                         .threads = variant.threads,
                                                         .precision = variant.precision,
                                                         .check_kernels = true});
  device->create_variables(c.table());
  device->variables().initialize(1);
  CpuRun run;
  auto executable = device->compile(c.graph(), run.plan);
  if (!variant.layout.empty() || !variant.convolution.empty()) {
    force(run.plan, variant);
    executable = device->compile(c.graph(), run.plan);
  }
  executable->run(floats, {});
  run.results = results_of(c, *executable, device->variables());
  for (const NodeTime& time : executable->times()) run.kinds.push_back(time.kind);
  return run;
}

/// In double, of the same rounded inputs.
std::vector<NamedTensor> run_on_reference(const Function& function, const std::vector<Tensor>& inputs,
                                          Phase phase) {
  std::vector<Tensor> exact;
  for (const Tensor& t : as_floats(inputs))
    exact.push_back(t.dtype() == DType::kFloat32 ? t.cast(DType::kFloat64) : t);
  const Case c(function, exact, {.phase = phase, .float_type = DType::kFloat64});
  const auto device = make_reference_device("reference", {.float_type = DType::kFloat64});
  device->create_variables(c.table());
  device->variables().initialize(1);
  PlanSection section;
  const auto executable = device->compile(c.graph(), section);
  executable->run(exact, {});
  return results_of(c, *executable, device->variables());
}

/// Puts the worst element into `result`; false if it is not a number.
bool compare(const NamedTensor& ours, const NamedTensor& truth, BackendCheckResult& result) {
  double scale = 0;
  for (int64_t i = 0; i < truth.value.elements(); ++i) scale = std::max(scale, std::abs(truth.value.at(i)));
  for (int64_t i = 0; i < truth.value.elements(); ++i) {
    const double difference = std::abs(ours.value.at(i) - truth.value.at(i));
    const double error = difference == 0 ? 0 : difference / scale;
    if (error <= result.largest_error) continue;
    result.largest_error = std::isnan(error) ? HUGE_VAL : error;
    result.text = truth.name + " " + truth.value.shape().str() + ", element " + std::to_string(i) + ": " +
                  shortest(ours.value.at(i)) + ", reference " + shortest(truth.value.at(i));
    if (std::isnan(error)) return false;
  }
  return true;
}

}  // namespace

std::vector<Tensor> evaluate_on_cpu(const Function& function, const std::vector<Tensor>& inputs,
                                    const BackendVariant& variant) {
  std::vector<Tensor> values;
  for (NamedTensor& result : run_on_cpu(function, inputs, variant).results)
    values.push_back(std::move(result.value));
  return values;
}

BackendCheck::BackendCheck(Function function, std::vector<Tensor> inputs, Phase phase)
    : function_(std::move(function)),
      inputs_(std::move(inputs)),
      phase_(phase),
      truth_(run_on_reference(function_, inputs_, phase)) {}

BackendCheckResult BackendCheck::run(const BackendVariant& variant) const {
  TPACK_ASSERT(variant.phase == phase_, "the reference ran in another phase");
  const CpuRun ours = run_on_cpu(function_, inputs_, variant);
  TPACK_ASSERT(ours.results.size() == truth_.size(), "both backends run the same graph");
  BackendCheckResult result;
  result.plan = ours.plan;
  result.kinds = ours.kinds;
  for (size_t k = 0; k < truth_.size(); ++k) {
    if (!compare(ours.results[k], truth_[k], result)) break;
  }
  return result;
}

BackendCheckResult check_backend(const Function& function, const std::vector<Tensor>& inputs,
                                 const BackendVariant& variant) {
  return BackendCheck(function, inputs, variant.phase).run(variant);
}

}  // namespace tpack::testkit
