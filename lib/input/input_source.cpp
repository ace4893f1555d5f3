#include "input/input_source.h"

#include "core/text.h"

namespace tpack {
namespace {

bool fits(const Shape& wanted, const Shape& given) {
  if (wanted.rank() != given.rank()) return false;
  for (int i = 0; i < static_cast<int>(wanted.rank()); ++i) {
    const bool unknown = wanted[i] == Shape::kUnknown || given[i] == Shape::kUnknown;
    if (!unknown && wanted[i] != given[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<size_t> bind_inputs(const std::vector<TowerInput>& inputs, const Spec& batches,
                                const std::string& flow_name) {
  Diagnostics errors;
  std::vector<size_t> components;
  std::vector<std::string> known;
  for (const ComponentSpec& component : batches) known.push_back(component.name);
  for (const TowerInput& input : inputs) {
    const auto at = batches.find(input.component);
    if (!at) {
      errors.add(input.position, "input '" + input.name + "' is bound to component '" + input.component +
                                     "', which " + flow_name + " does not have" +
                                     did_you_mean(input.component, known) + " (it has " + batches.str() +
                                     "; bind others with `feed`)");
      continue;
    }
    const TensorSpec& given = batches[*at].tensor;
    const Shape wanted = input.batched ? input.spec.shape.prepend(Shape::kUnknown) : input.spec.shape;
    if (given.dtype != input.spec.dtype || !fits(wanted, given.shape)) {
      errors.add(input.position, "input '" + input.name + "' is " +
                                     TensorSpec{input.spec.dtype, wanted}.str() + ", but " + flow_name +
                                     " gives " + given.str());
    }
    if (batches[*at].is_image && input.layout == "CHW") {
      errors.add(input.position, "input '" + input.name + "' has layout CHW, but the images of " + flow_name +
                                     " are HWC; write layout: HWC");
    }
    components.push_back(*at);
  }
  errors.throw_if_any();
  return components;
}

}  // namespace tpack
