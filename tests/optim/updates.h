#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/program.h"
#include "config/yaml_reader.h"
#include "optim/optimizer.h"

namespace tpack {

/// The update program of an optimizer over two variables, a [3] and b [2], in double on the reference
/// backend.
class Updates {
 public:
  explicit Updates(const std::string& optimizer_yaml, double scale = 1)
      : optimizer_(Registry<Optimizer>::make_item(parse_yaml(optimizer_yaml, "o.yaml"))),
        program_("update", *device_, plan_,
                 [this, scale](const Signature& /*none*/) { return graph(scale); }) {
    table_.declare({"a", {DType::kFloat64, {3}}, VariableScope::kModel, true, nullptr});
    table_.declare({"b", {DType::kFloat64, {2}}, VariableScope::kModel, true, nullptr});
    graph(scale);  // declares what the optimizer keeps
    device_->create_variables(table_);
    device_->variables().initialize(1);
  }
  double& value(const std::string& name, size_t i) {
    return device_->variables().tensor(name).data<double>()[i];
  }
  void run() { program_.run({}, {}); }
  VariableStore& variables() { return device_->variables(); }

 private:
  Graph graph(double scale) {
    Graph graph;
    Builder b(graph, table_, {Phase::kTraining, DType::kFloat64});
    optimizer_->build(b, flat_layout(table_), scale);
    return graph;
  }

  std::unique_ptr<Optimizer> optimizer_;
  VariableTable table_;
  std::unique_ptr<Device> device_ = make_reference_device("cpu:0", {.float_type = DType::kFloat64});
  Plan plan_;
  Program program_;
};

}  // namespace tpack
