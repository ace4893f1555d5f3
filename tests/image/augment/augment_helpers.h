#pragma once

#include <string>

#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "image/augment/augmentor.h"

namespace tpack {

inline std::unique_ptr<Augmentor> augmentor(const std::string& name, const ConfigNode& params) {
  return Registry<Augmentor>::make(name, params);
}

inline std::unique_ptr<Transform> drawn(const Augmentor& a, ImageSize size, uint64_t seed = 1) {
  Rng rng(seed);
  return a.draw(size, rng);
}

/// The result of one draw on an image; a null transform leaves it as it is.
inline cv::Mat applied(const Augmentor& a, const cv::Mat& pixels, uint64_t seed = 1) {
  const auto transform = drawn(a, {pixels.cols, pixels.rows}, seed);
  cv::Mat out = pixels.clone();
  if (transform != nullptr) transform->image(out);
  return out;
}

}  // namespace tpack
