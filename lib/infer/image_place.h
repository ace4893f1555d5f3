#pragma once

#include <array>

#include "image/image.h"
#include "tensor/tensor.h"

namespace tpack {

/// How the image that a model takes lies in the picture of a file.
struct ImagePlace {
  ImageSize picture;             // upright
  ImageSize image;               // that the model takes
  std::array<Point, 3> corners;  // of the picture, in pixels of the image: (0, 0), (width, 0) and (0, height)

  /// Whether the image shows all of the picture.
  bool shows_all() const;
};

/// A mask [height, width] that a model made of an image, in the pixels of its picture: each pixel has the
/// class of the nearest one, and 0 where the image shows nothing of the picture.
Tensor mask_of_picture(const Tensor& mask, const ImagePlace& place);

}  // namespace tpack
