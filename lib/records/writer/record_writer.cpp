#include "records/writer/record_writer.h"

#include <string>

#include "core/error.h"

namespace tpack {

ComponentOfField component_as(const ComponentSpec& component, std::string field) {
  const auto reject = [&](const std::string& why) {
    return ConfigError("component '" + component.name + "' " + why + ", which files of records do not keep");
  };
  if (component.frames > 1) throw reject("has several frames of an image");
  if (component.is_image && component.depth != Depth::k8)
    throw reject("is an image of more than 8 bits per channel");
  if (component.is_image && (component.background != Background{} || !component.upright))
    throw reject("is an image with 'background' or 'upright' of its own");
  if (!component.mirror_pairs.empty()) throw reject("has mirror pairs");
  if (component.is_image && component.tensor.shape.rank() == 3 && component.tensor.shape[2] == kAlphaChannels)
    throw reject("is an image with transparency");
  ComponentOfField one{.component = component.name,
                       .field = std::move(field),
                       .classes = component.classes,
                       .annotation = component.annotation,
                       .ignored = component.ignored};
  if (component.is_image && component.tensor.shape.rank() == 3 && component.tensor.shape[2] == 1)
    one.color = Color::kGray;
  return one;
}

}  // namespace tpack
