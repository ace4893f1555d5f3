#pragma once

#include <functional>
#include <memory>

#include "image/augment/augmentor.h"

/// Transforms of colors. Those of red, green and blue leave gray images (of 1 or 2 channels) as they are, and
/// the fourth channel of others. Results are rounded and clamped.
namespace tpack {

/// y = f(x) of each channel, with pixels of 0..255.
std::unique_ptr<Transform> make_value_map(std::function<double(double)> f);
/// Mixes each color with its gray: 0 gives gray, 1 the same image.
std::unique_ptr<Transform> make_saturation(float factor);
/// Mixes an image with the mean of its gray: 0 gives one gray, 1 the same image.
std::unique_ptr<Transform> make_gray_contrast(float factor);
/// Rotates the hues.
std::unique_ptr<Transform> make_hue_shift(float degrees);
/// Adds a color to all pixels.
std::unique_ptr<Transform> make_rgb_offset(const std::array<float, 3>& rgb);
/// Mixes an image with a smoothed one: 0 gives that, 1 the same image, 2 a sharper one. Its edges stay.
std::unique_ptr<Transform> make_sharpness(float factor);
/// Stretches each channel to 0..255.
std::unique_ptr<Transform> make_auto_contrast();
/// Makes all values of each channel as frequent as each other.
std::unique_ptr<Transform> make_equalize();
std::unique_ptr<Transform> make_solarize(float threshold);
std::unique_ptr<Transform> make_posterize(int bits);
std::unique_ptr<Transform> make_invert();

}  // namespace tpack
