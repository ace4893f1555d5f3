#pragma once

#include <functional>
#include <string>

#include "backend/device.h"
#include "core/text.h"
#include "graph/builder.h"

namespace tpack {

/// The text of a graph that `emit` builds in double, and of the variables that it declares, with their
/// initial values.
inline std::string graph_text(const std::function<void(Builder&)>& emit, Phase phase = Phase::kTraining) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {.phase = phase, .float_type = DType::kFloat64});
  emit(b);
  const auto device = make_reference_device("reference", {.float_type = DType::kFloat64});
  device->create_variables(table);
  device->variables().initialize(1);
  std::string text = graph.str();
  for (const VariableSpec* variable : table.all()) {
    text +=
        "variable " + variable->name + " " + variable->spec.str() + (variable->trainable ? " trainable" : "");
    const Tensor value = device->variables().tensor(variable->name);
    for (int64_t i = 0; i < value.elements(); ++i) text += " " + shortest(value.at(i));
    text += "\n";
  }
  return text;
}

}  // namespace tpack
