#pragma once

#include <functional>
#include <memory>

#include "image/augment/augmentor.h"

/// Transforms of colors. Transforms of red, green and blue do not change gray images (1 or 2 channels) or the
/// fourth channel. Results are rounded and clamped.
namespace tpack {

/// y = f(x) for each channel, with pixels of 0..255.
std::unique_ptr<Transform> make_value_map(std::function<double(double)> f);
/// Mixes each color with its gray: 0 results in gray, 1 in the same image.
std::unique_ptr<Transform> make_saturation(float factor);
/// Mixes an image with the mean of its gray: 0 results in one gray, 1 in the same image.
std::unique_ptr<Transform> make_gray_contrast(float factor);
/// Rotates the hues.
std::unique_ptr<Transform> make_hue_shift(float degrees);
/// Adds a color to all pixels.
std::unique_ptr<Transform> make_rgb_offset(const std::array<float, 3>& rgb);
/// Mixes an image with a smoothed one: 0 results in the smoothed image, 1 in the same image, 2 in a sharper
/// one. Its edges stay.
std::unique_ptr<Transform> make_sharpness(float factor);
/// Stretches each channel to 0..255.
std::unique_ptr<Transform> make_auto_contrast();
/// Equalizes the histogram of each channel.
std::unique_ptr<Transform> make_equalize();
std::unique_ptr<Transform> make_solarize(float threshold);
std::unique_ptr<Transform> make_posterize(int bits);
std::unique_ptr<Transform> make_invert();

}  // namespace tpack
