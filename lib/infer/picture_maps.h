#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/tower_function.h"
#include "infer/image_place.h"
#include "learner/sample_maps.h"

namespace tpack {

/// The maps of a flow for one sample at a time, which also tell how the image of the model lies in the
/// picture that the source has: maps move the corners of the picture along.
class PictureMaps {
 public:
  PictureMaps() = default;
  /// `given`: what the source gives; `image`: the input whose place is asked for, null for none. Errors: as
  /// SampleMaps.
  PictureMaps(const ConfigNode& components, const Spec& given, const FittedData& fit,
              std::vector<std::string> wanted, const TowerInput* image);

  /// Of a sample behind the maps.
  const Spec& spec() const { return maps_.spec(); }
  /// Of a sample as the source gives it. `place`: nothing if the maps do not tell. Errors: as SampleMaps.
  void apply(Datapoint& sample, std::optional<ImagePlace>& place) const;

  /// The component with the corners, for maps that are made otherwise, and its value.
  static ComponentSpec corners_component();
  static Tensor corners_of(ImageSize picture);
  /// Nothing for an image that no map made [height, width, channels].
  static std::optional<ImagePlace> place_of(const Tensor& corners, const Shape& image, ImageSize picture);

 private:
  size_t given_ = 0;             // components
  std::optional<size_t> image_;  // of the source; nothing if no place is asked for or told
  std::string made_;             // the component of the model
  SampleMaps maps_;
};

}  // namespace tpack
