#pragma once

#include <memory>
#include <optional>

#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

namespace tpack {

/// Puts an image onto a larger one of a single color, with its first pixel at (x, y).
std::unique_ptr<Transform> make_paste(const Extent& canvas, int x, int y, const Fill& fill);
/// In its middle. Errors: as check_background_fits.
std::unique_ptr<Transform> make_center_paste(ImageSize image, const Extent& canvas, const Fill& fill);
/// Rejects images that are larger than the background. Errors: DataError with the fix.
void check_background_fits(ImageSize image, const Extent& background);
/// The shape of images [height, width, channels] on a background. Errors: ConfigError if they are known to be
/// larger, or if the color has another number of channels.
Shape shape_on_background(const Shape& in, const Extent& background, const Fill& fill);
/// The shorter side of a background for images with shorter side `before`. Errors: ConfigError if they cannot
/// fit.
int64_t shorter_side_of_background(std::optional<int64_t> before, const Extent& background);

}  // namespace tpack
