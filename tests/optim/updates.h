#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "backend/program.h"
#include "config/yaml_reader.h"
#include "optim/optimizer.h"

namespace tpack {

/// The backend of an update: reference in double, or cpu in float.
enum class Backend : uint8_t { kReference, kCpu };

inline std::unique_ptr<Device> make_device(Backend backend, int threads = 2) {
  return backend == Backend::kCpu ? open_device("cpu:0", DeviceOptions{.threads = threads})
                                  : make_reference_device("cpu:0", {.float_type = DType::kFloat64});
}

inline std::string name_of_backend(const testing::TestParamInfo<Backend>& param) {
  return param.param == Backend::kCpu ? "processors" : "the_reference";
}

/// Matrices are kernels of dense layers, and what has four axes of convolutions.
inline KernelKind kernel_of(const Shape& shape) {
  if (shape.rank() == 2) return KernelKind::kDense;
  return shape.rank() == 4 ? KernelKind::kConvolution : KernelKind::kNone;
}

/// The update program of an optimizer over two variables, a [3] and b [2], or others.
class Updates {
 public:
  using Shapes = std::vector<std::pair<std::string, Shape>>;

  explicit Updates(const std::string& optimizer_yaml, double scale = 1, Backend backend = Backend::kReference,
                   const Shapes& shapes = {{"a", {3}}, {"b", {2}}}, int threads = 2)
      : optimizer_(Registry<Optimizer>::make_item(parse_yaml(optimizer_yaml, "o.yaml"))),
        device_(make_device(backend, threads)),
        program_("update", *device_, plan_,
                 [this, scale](const Signature& /*none*/) { return graph(scale); }) {
    for (const auto& [name, shape] : shapes)
      table_.declare({.name = name,
                      .spec = {device_->float_type(), shape},
                      .trainable = true,
                      .kernel = kernel_of(shape)});
    graph(scale);  // declares what the optimizer stores
    device_->create_variables(table_);
    device_->variables().initialize(1);
  }
  double value(const std::string& name, int64_t i) const { return variables().tensor(name).at(i); }
  void set(const std::string& name, int64_t i, double value) {
    const Tensor tensor = variables().tensor(name);
    visit(tensor.dtype(),
          [&](auto zero) { tensor.data<decltype(zero)>()[i] = static_cast<decltype(zero)>(value); });
  }
  void run(const RunInfo& info = {}) { program_.run({}, info); }
  /// The flat blocks of parameters and slots.
  std::vector<std::string> blocks() const {
    std::vector<std::string> names = {FlatBlock{kParameters, ""}.name()};
    for (const VariableSpec* spec : table_.all())
      if (FlatBlock::parse(spec->name) && spec->scope == VariableScope::kOptimizer)
        names.push_back(spec->name);
    return names;
  }
  VariableStore& variables() const { return device_->variables(); }
  /// Kernels of the compiled program.
  int kernels() { return program_.compile({}).report().kernels; }

 private:
  Graph graph(double scale) {
    Graph graph;
    Builder b(graph, table_, {Phase::kTraining, device_->float_type()});
    optimizer_->build(b, table_.groups().front(), scale);
    return graph;
  }

  std::unique_ptr<Optimizer> optimizer_;
  VariableTable table_;
  std::unique_ptr<Device> device_;
  Plan plan_;
  Program program_;
};

}  // namespace tpack
