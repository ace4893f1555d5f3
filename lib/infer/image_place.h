#pragma once

#include <array>

#include "image/image.h"
#include "tensor/tensor.h"

namespace tpack {

/// The place of the model's image in the picture of a file.
struct ImagePlace {
  ImageSize picture;  // upright
  ImageSize image;    // size of the model's image
  std::array<Point, 3>
      corners;  // corners of the picture, in pixels of the image: (0, 0), (width, 0) and (0, height)

  /// Whether the image shows all of the picture.
  bool shows_all() const;
};

/// A mask [height, width] of an image, in the pixels of its picture: each pixel has the class of the nearest
/// one, and 0 outside of the image.
Tensor mask_of_picture(const Tensor& mask, const ImagePlace& place);

}  // namespace tpack
