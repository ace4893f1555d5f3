#include "infer/picture_maps.h"

#include "core/error.h"
#include "dataflow/datapoint.h"

namespace tpack {
namespace {

constexpr const char* kCorners = "corners of the picture";

ImageSize size_of(Datapoint& sample, size_t image) {
  if (sample.is_image(image)) return sample.image(image).size();
  const Shape& shape = sample.tensor(image).shape();
  return {static_cast<int>(shape[1]), static_cast<int>(shape[0])};
}

}  // namespace

ComponentSpec PictureMaps::corners_component() {
  ComponentSpec corners{kCorners, {DType::kFloat32, Shape{3, 2}}};
  corners.annotation = Annotation::kPoints;
  return corners;
}

Tensor PictureMaps::corners_of(ImageSize picture) {
  const auto width = static_cast<float>(picture.width);
  const auto height = static_cast<float>(picture.height);
  return Tensor::of<float>({3, 2}, {0, 0, width, 0, 0, height});
}

std::optional<ImagePlace> PictureMaps::place_of(const Tensor& corners, const Shape& image,
                                                ImageSize picture) {
  if (image.rank() != 3 || corners.shape() != Shape{3, 2}) return std::nullopt;
  ImagePlace place{picture, {static_cast<int>(image[1]), static_cast<int>(image[0])}, {}};
  for (size_t i = 0; i < 3; ++i) {
    const auto at = static_cast<int64_t>(2 * i);
    place.corners.at(i) = {corners.at(at), corners.at(at + 1)};
  }
  return place;
}

PictureMaps::PictureMaps(const ConfigNode& components, const Spec& given, const FittedData& fit,
                         std::vector<std::string> wanted, const TowerInput* image)
    : given_(given.size()) {
  if (image != nullptr && image->layout == "HWC") {
    image_ = given.find(image->component);
    if (image_ && !given[*image_].is_image) image_.reset();
    made_ = image->component;
  }
  if (image_) {
    std::vector<ComponentSpec> all(given.begin(), given.end());
    all.push_back(corners_component());
    std::vector<std::string> with_corners = wanted;
    with_corners.emplace_back(kCorners);
    try {
      maps_ = SampleMaps(components, Spec(std::move(all)), fit, std::move(with_corners));
      return;
    } catch (const ConfigError&) {  // a map takes images alone
      image_.reset();
    }
  }
  maps_ = SampleMaps(components, given, fit, std::move(wanted));
}

void PictureMaps::apply(Datapoint& sample, std::optional<ImagePlace>& place) const {
  if (!image_) return maps_.apply(sample);
  const ImageSize picture = size_of(sample, *image_);
  sample.resize(given_ + 1);
  sample.set_tensor(given_, corners_of(picture));
  maps_.apply(sample);
  const auto corners = maps_.spec().find(kCorners);
  const auto image = maps_.spec().find(made_);
  if (corners && image) place = place_of(sample.tensor(*corners), sample.to_tensor(*image).shape(), picture);
}

}  // namespace tpack
