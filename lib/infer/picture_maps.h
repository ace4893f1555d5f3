#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/tower_function.h"
#include "infer/image_place.h"
#include "learner/sample_maps.h"

namespace tpack {

/// The maps of a flow for one sample at a time, with the place of the model's image in the picture of the
/// source: maps move the corners of the picture along.
class PictureMaps {
 public:
  PictureMaps() = default;
  /// `given`: the components of the source; `image`: the input whose place is requested, null for none.
  /// Errors: as for SampleMaps.
  PictureMaps(const ConfigNode& components, const Spec& given, const FittedData& fit,
              std::vector<std::string> wanted, const TowerInput* image);

  /// The form of a sample after the maps.
  const Spec& spec() const { return maps_.spec(); }
  /// Applies the maps to a sample of the source. `place`: nothing if unknown. Errors: as for SampleMaps.
  void apply(Datapoint& sample, std::optional<ImagePlace>& place) const;

  /// The component with the corners, for maps made elsewhere, and its value.
  static ComponentSpec corners_component();
  static Tensor corners_of(ImageSize picture);
  /// Nothing if no map made the image [height, width, channels].
  static std::optional<ImagePlace> place_of(const Tensor& corners, const Shape& image, ImageSize picture);

 private:
  size_t given_ = 0;             // components
  std::optional<size_t> image_;  // component of the source; nothing if no place is requested or known
  std::string made_;             // the component of the model
  SampleMaps maps_;
};

}  // namespace tpack
