#include "backend/device.h"

#include <cstring>
#include <map>

#include "backend/passes/passes.h"
#include "backend/reference/kernel.h"
#include "core/clock.h"
#include "graph/structural.h"

namespace tpack {
namespace reference {
namespace {

std::map<std::string, Kernel>& kernels() {
  static auto& all = *new std::map<std::string, Kernel>();
  return all;
}

NodeTypes types_of(const Node& node) {
  NodeTypes types{node.path, node.outputs, {}};
  if (node.op->is_product()) types.factors = {node.inputs[0].dtype(), node.inputs[1].dtype()};
  return types;
}

/// Runs every needed node in graph order; each value has a separate tensor.
class ReferenceExecutable final : public Executable {
 public:
  ReferenceExecutable(const Graph& graph, VariableStore& store) : graph_(copy_of(graph)), store_(store) {
    const std::vector<bool> needed = graph_.needed();
    values_.resize(graph_.size());
    for (const auto& node : graph_.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      if (op_cast<Input>(*node) != nullptr) inputs_.push_back(id);
      if (!needed[id]) continue;
      prepare(*node);
      report_.flops += node->op->flops(*node);
    }
    for (const Fetch& fetch : graph_.fetches()) fetched_.emplace_back(fetch.value.spec());
    for (const auto& value : values_) {
      for (const Tensor& tensor : value) report_.arena_bytes += tensor.empty() ? 0 : tensor.bytes();
    }
    report_.kernels = static_cast<int>(steps_.size());
    for (const Step& step : steps_) report_.types.push_back(types_of(*step.node));
  }

  void run(std::span<const Tensor> inputs, const RunInfo& info) override {
    TPACK_ASSERT(inputs.size() == inputs_.size(), "a program of other inputs");
    for (size_t i = 0; i < inputs.size(); ++i) values_[inputs_[i]] = {inputs[i]};
    if (profiling_) ++runs_;
    for (Step& step : steps_) {
      const double began_s = monotonic_s();
      std::vector<Tensor> in;
      for (const Symbol& s : step.node->inputs) in.push_back(value(s));
      step.kernel(*step.node, in, values_[static_cast<size_t>(step.node->id)], info);
      if (!profiling_) continue;
      step.began_s = began_s;
      step.last_s = monotonic_s() - began_s;
      step.seconds += step.last_s;
    }
    const auto& fetches = graph_.fetches();
    for (size_t i = 0; i < fetches.size(); ++i) copy(value(fetches[i].value), fetched_[i]);
    assign();
    for (size_t i = 0; watch_ != nullptr && i < watch_->sets.size(); ++i) watch_->reached(i);
  }

  const Tensor& fetched(size_t i) const override { return fetched_[i]; }
  const CompileReport& report() const override { return report_; }
  void watch(const AssignmentWatch* watch) override { watch_ = watch; }
  void profile(bool on) override { profiling_ = on; }
  std::vector<NodeTime> times() const override {
    std::vector<NodeTime> all;
    for (const Step& step : steps_) {
      const Node& node = *step.node;
      double bytes = 0;
      for (const Symbol& s : node.inputs) bytes += static_cast<double>(s.spec().bytes());
      for (const TensorSpec& spec : node.outputs) bytes += static_cast<double>(spec.bytes());
      all.push_back({node.path, node.op->type(), runs_, step.seconds, node.op->flops(node), bytes,
                     step.began_s, step.last_s});
    }
    return all;
  }

 private:
  struct Step {
    const Node* node;
    Kernel kernel;
    double seconds = 0;
    double began_s = 0;
    double last_s = 0;
  };

  void prepare(const Node& node) {
    auto& values = values_[static_cast<size_t>(node.id)];
    if (op_cast<Input>(node) != nullptr) {
      values.emplace_back();
      return;
    }
    if (const auto* read = op_cast<Read>(node)) {
      values.push_back(store_.tensor(read->params().variable));
      return;
    }
    for (const TensorSpec& spec : node.outputs) values.emplace_back(spec);
    const Kernel kernel = find_kernel(node.op->type());
    TPACK_ASSERT(kernel != nullptr, std::string("no reference kernel for ") + node.op->type());
    steps_.push_back({&node, kernel});
  }

  const Tensor& value(Symbol s) const {
    return values_[static_cast<size_t>(s.node->id)][static_cast<size_t>(s.output)];
  }

  static void copy(const Tensor& from, const Tensor& to) { std::memcpy(to.raw(), from.raw(), to.bytes()); }

  /// All values are computed before the first variable changes; one that is itself a variable is copied
  /// first.
  void assign() {
    std::vector<Tensor> values;
    for (const Assignment& a : graph_.assignments()) {
      const bool is_variable = op_cast<Read>(*a.value.node) != nullptr;
      values.push_back(is_variable ? value(a.value).clone() : value(a.value));
    }
    for (size_t i = 0; i < values.size(); ++i)
      copy(values[i], store_.tensor(graph_.assignments()[i].variable));
  }

  Graph graph_;
  VariableStore& store_;
  std::vector<std::vector<Tensor>> values_;  // by node id
  std::vector<size_t> inputs_;               // node ids
  std::vector<Step> steps_;
  std::vector<Tensor> fetched_;
  CompileReport report_;
  bool profiling_ = false;
  int runs_ = 0;  // that were profiled
  const AssignmentWatch* watch_ = nullptr;
};

class ReferenceDevice final : public Device {
 public:
  ReferenceDevice(std::string name, const DeviceOptions& options)
      : Device({std::move(name), options.float_type}), precision_(options.precision) {}
  void create_variables(const VariableTable& table) override {
    store_ = std::make_unique<VariableStore>(table);
  }
  void share_variables(const VariableTable& table, const VariableStore& store, Sharing sharing) override {
    store_ = std::make_unique<VariableStore>(table, store, sharing);
  }
  bool can_share_variables() const override { return true; }
  VariableStore& variables() override { return *store_; }
  std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section,
                                      Choosing /*choosing*/) override {
    section.pieces = 1;
    section.chosen = true;
    auto executable =
        precision_ == Precision::kFp32
            ? std::make_unique<ReferenceExecutable>(graph, *store_)
            : std::make_unique<ReferenceExecutable>(round_factors(graph, factor_type(precision_)), *store_);
    value_bytes_ += executable->report().arena_bytes;
    return executable;
  }
  uint64_t arena_bytes() const override { return value_bytes_; }

 private:
  Precision precision_;
  uint64_t value_bytes_ = 0;  // of all executables, which do not share memory
  std::unique_ptr<VariableStore> store_;
};

}  // namespace

Registration::Registration(const char* op_type, Kernel kernel) { kernels().emplace(op_type, kernel); }

Kernel find_kernel(const std::string& op_type) {
  const auto found = kernels().find(op_type);
  return found == kernels().end() ? nullptr : found->second;
}

}  // namespace reference

std::unique_ptr<Device> make_reference_device(const std::string& name, const DeviceOptions& options) {
  return std::make_unique<reference::ReferenceDevice>(name, options);
}

}  // namespace tpack
