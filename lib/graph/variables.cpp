#include "graph/variables.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {

const VariableSpec& VariableTable::declare(VariableSpec spec) {
  const auto found = by_name_.find(spec.name);
  if (found == by_name_.end()) {
    order_.push_back(spec.name);
    std::string name = spec.name;
    return by_name_.emplace(std::move(name), std::move(spec)).first->second;
  }
  const VariableSpec& known = found->second;
  if (!(known.spec == spec.spec) || known.scope != spec.scope || known.trainable != spec.trainable) {
    throw ShapeError("variable " + spec.name + " is " + known.spec.str() + " and is used again as " +
                     spec.spec.str() + "; give one of the two layers another name");
  }
  return known;
}

const VariableSpec* VariableTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

std::vector<const VariableSpec*> VariableTable::all() const {
  std::vector<const VariableSpec*> list;
  for (const std::string& name : order_) list.push_back(&by_name_.at(name));
  return list;
}

std::vector<const VariableSpec*> VariableTable::trainable() const {
  std::vector<const VariableSpec*> list;
  for (const VariableSpec* spec : all()) {
    if (spec->trainable) list.push_back(spec);
  }
  return list;
}

FlatLayout flat_layout(const VariableTable& table) {
  constexpr int64_t kAlignment = 16;  // elements; 64 bytes of float
  std::vector<const VariableSpec*> order;
  for (const std::string& name : table.gradient_order()) order.push_back(table.find(name));
  for (const VariableSpec* spec : table.trainable()) {
    if (std::find(order.begin(), order.end(), spec) == order.end()) order.push_back(spec);
  }
  FlatLayout layout;
  for (const VariableSpec* spec : order) {
    layout.entries.push_back({spec->name, spec->spec.shape, layout.size});
    layout.size += (spec->spec.shape.elements() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return layout;
}

std::string gradient_name(const std::string& variable) { return part_name(kFlatGradient, variable); }
std::string part_name(const std::string& block, const std::string& variable) {
  return block + "/" + variable;
}
std::string flat_slot(const std::string& slot) { return "@" + slot; }

}  // namespace tpack
