#include "input/input_source.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {

bool fits(const Shape& wanted, const Shape& given) {
  if (wanted.rank() != given.rank()) return false;
  for (int i = 0; i < static_cast<int>(wanted.rank()); ++i) {
    const bool unknown = wanted[i] == Shape::kUnknown || given[i] == Shape::kUnknown;
    if (!unknown && wanted[i] != given[i]) return false;
  }
  return true;
}

namespace {

/// If one of the two has class numbers [N], and the other the probabilities of all classes [N, C].
std::string fix_of_soft_labels(const TowerInput& input, const ComponentSpec& component) {
  const TensorSpec& given = component.tensor;
  if (!input.batched || component.is_image || is_float(given.dtype) == is_float(input.spec.dtype)) return "";
  if (given.shape.rank() == 1 && input.spec.shape.rank() == 1)
    return "; change the flow with MapData: {component: " + input.component +
           ", map: {OneHot: " + std::to_string(input.spec.shape[0]) + "}}";
  if (given.shape.rank() == 2 && input.spec.shape.rank() == 0 && !component.classes.empty())
    return std::string("; for soft labels, write dtype: ") + name_of(given.dtype) +
           ", shape: " + given.shape.drop_front().str();
  return "";
}

/// If only the channels of images differ, and their source could provide the model's channels.
std::string fix_of_channels(const TowerInput& input, const ComponentSpec& component, const Shape& wanted) {
  const TensorSpec& given = component.tensor;
  const bool are_images = input.batched && component.is_image && component.frames == 1 &&
                          wanted.rank() == 4 && given.shape.rank() == 4 && given.dtype == input.spec.dtype;
  if (!are_images || given.shape[3] != channels_of(Color::kRgb) || wanted[3] == given.shape[3] ||
      !fits(wanted, given.shape.with(3, wanted[3])))
    return "";
  const auto same = std::ranges::find_if(
      EnumNames<Color>::kNames, [&](const auto& color) { return channels_of(color.second) == wanted[3]; });
  if (same == EnumNames<Color>::kNames.end()) return "";
  return std::string("; for image files, set color: ") + same->first +
         " in their source, or write shape: " + given.shape.drop_front().str();
}

/// " with AugmentImageComponent: [Resize: [8, 8]]" if images must have another height or width.
std::string resize_to(const Shape& wanted, const ComponentSpec& component) {
  const Shape& given = component.tensor.shape;
  if (!component.is_image || wanted.rank() != 4 || given.rank() != 4 || wanted[3] != given[3]) return "";
  if (fits(wanted, given) || !wanted.drop_front().known()) return "";
  return " with AugmentImageComponent: [Resize: " + Shape{wanted[1], wanted[2]}.str() + "]";
}

/// The fix to match an input to the data: "; write dtype: uint8, shape: [28, 28]". If the input needs
/// integers, such as labels, the type of the data should change.
std::string fix_of(const TowerInput& input, const ComponentSpec& component, const Shape& wanted) {
  const TensorSpec& given = component.tensor;
  if (std::string fix = fix_of_soft_labels(input, component); !fix.empty()) return fix;
  if (std::string fix = fix_of_channels(input, component, wanted); !fix.empty()) return fix;
  std::vector<std::string> fixes;
  const bool are_types_equal = given.dtype == input.spec.dtype;
  // Labels are int32; other numbers, and images, keep their type.
  const bool is_label = input.spec.dtype == DType::kInt32 && !component.is_image;
  const bool is_fraction = !is_float(input.spec.dtype) && is_float(given.dtype) && fits(wanted, given.shape);
  const bool wants_numbers = !are_types_equal && (is_label || is_fraction);
  if (!are_types_equal && !wants_numbers) fixes.push_back(std::string("dtype: ") + name_of(given.dtype));
  const bool has_samples = !input.batched || given.shape.rank() > 0;
  const Shape sample = input.batched && has_samples ? given.shape.drop_front() : given.shape;
  const bool is_known = std::all_of(sample.sizes().begin(), sample.sizes().end(),
                                    [](int64_t size) { return size != Shape::kUnknown; });
  if (!fits(wanted, given.shape) && has_samples && is_known) fixes.push_back("shape: " + sample.str());
  const std::string written = fixes.empty() ? "" : "write " + join(fixes, ", ");
  if (!wants_numbers)
    return fixes.empty() ? "" : "; " + written + ", or change the flow" + resize_to(wanted, component);
  return "; change the flow with MapData: {component: " + input.component +
         ", map: {Cast: " + name_of(input.spec.dtype) + "}}" +
         (!fixes.empty()          ? ", and " + written
          : is_float(given.dtype) ? std::string(", or write dtype: ") + name_of(given.dtype)
                                  : "");
}

/// What the inputs take is what data.train produces; so another flow should produce the same.
std::string fix_in_flow(const std::string& flow_name, const std::string& fix) {
  if (flow_name == "data.train") return fix;
  return "; give it the maps of data.train" + (fix.empty() ? "" : ", or" + fix.substr(1));
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
    const Shape wanted = input.batch_spec(Shape::kUnknown).shape;
    if (batches[*at].is_mixed_label && input.spec == batches[*at].declared()) {
      components.push_back(*at);
      continue;
    }
    if (given.dtype != input.spec.dtype || !fits(wanted, given.shape)) {
      errors.add(input.position, "input '" + input.name + "' is " +
                                     TensorSpec{input.spec.dtype, wanted}.str() + ", but " + flow_name +
                                     " produces " + given.str() +
                                     fix_in_flow(flow_name, fix_of(input, batches[*at], wanted)));
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
