#include "image/format/stored_pixels.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <opencv2/imgproc.hpp>

#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// The upper 8 of 16 bits, as decode_png keeps them.
cv::Mat upper_bits(const cv::Mat& deep) {
  cv::Mat out = pooled_mat(deep.rows, deep.cols, CV_8UC(deep.channels()));
  const int values = deep.cols * deep.channels();
  for (int y = 0; y < deep.rows; ++y) {
    const auto* from = deep.ptr<uint16_t>(y);
    uint8_t* to = out.ptr(y);
    for (int i = 0; i < values; ++i) to[i] = static_cast<uint8_t>(from[i] >> 8U);
  }
  return out;
}

cv::Mat in_depth(const cv::Mat& stored, Depth depth) {
  const int wanted = depth == Depth::k8 ? CV_8U : depth == Depth::k16 ? CV_16U : CV_32F;
  if (stored.depth() == wanted) return stored;
  if (depth == Depth::k8) return upper_bits(stored);
  cv::Mat out = pooled_mat();
  stored.convertTo(out, wanted, depth == Depth::k16 ? 257 : 1);  // white is 65535
  return out;
}

bool has_alpha(const cv::Mat& stored) { return stored.channels() % 2 == 0; }

/// Red, green, blue and alpha; pixels without alpha are opaque.
cv::Mat with_alpha(const cv::Mat& stored) {
  if (stored.channels() == kAlphaChannels) return stored;
  cv::Mat out = pooled_mat(stored.rows, stored.cols, CV_MAKETYPE(stored.depth(), kAlphaChannels));
  out.setTo(cv::Scalar::all(stored.depth() == CV_16U ? 65535 : 255));
  const int last = stored.channels() - 1;
  const bool is_gray = stored.channels() < 3;
  std::vector<int> from_to = {0, 0, is_gray ? 0 : 1, 1, is_gray ? 0 : 2, 2};
  if (has_alpha(stored)) from_to.insert(from_to.end(), {last, 3});
  cv::mixChannels(&stored, 1, &out, 1, from_to.data(), from_to.size() / 2);
  return out;
}

/// T: 8 or 16 bits. Computed in integers, rounded; colors of opaque pixels stay.
template <class T>
cv::Mat put_onto(const Background& background, const cv::Mat& rgba) {
  constexpr uint32_t kWhite = std::numeric_limits<T>::max();
  constexpr uint32_t kUnit = kWhite / 255;
  cv::Mat out = pooled_mat(rgba.rows, rgba.cols, CV_MAKETYPE(rgba.depth(), 3));
  for (int y = 0; y < rgba.rows; ++y) {
    const T* from = rgba.ptr<T>(y);
    T* to = out.ptr<T>(y);
    for (int x = 0; x < rgba.cols; ++x, from += kAlphaChannels, to += 3) {
      const uint32_t alpha = from[3];
      for (size_t i = 0; i < 3; ++i)
        to[i] = static_cast<T>(
            (from[i] * alpha + background.rgb.at(i) * kUnit * (kWhite - alpha) + kWhite / 2) / kWhite);
    }
  }
  return out;
}

/// Gray or RGB of pixels with alpha.
cv::Mat without_alpha(const cv::Mat& stored, const std::optional<Background>& background) {
  if (background && stored.depth() != CV_32F) {
    const cv::Mat rgba = with_alpha(stored);
    return rgba.depth() == CV_16U ? put_onto<uint16_t>(*background, rgba)
                                  : put_onto<uint8_t>(*background, rgba);
  }
  cv::Mat out = pooled_mat();
  if (stored.channels() == kAlphaChannels)
    cv::cvtColor(stored, out, cv::COLOR_RGBA2RGB);
  else
    cv::extractChannel(stored, out, 0);
  return out;
}

}  // namespace

bool wants_alpha_of_palette(const DecodeRequest& request, int channels,
                            std::span<const std::array<uint8_t, 3>> colors, std::span<const uint8_t> alpha) {
  if (channels == kAlphaChannels) return true;
  const auto is_opaque = [](uint8_t value) { return value == 255; };
  const auto key = std::ranges::find_if_not(alpha, is_opaque);
  if (!request.background || key == alpha.end()) return false;
  const auto at = static_cast<size_t>(key - alpha.begin());
  if (*key != 0 || at >= colors.size() || !std::all_of(key + 1, alpha.end(), is_opaque)) return true;
  return std::ranges::count(colors, colors[at]) > 1;
}

Box give_pixels(const cv::Mat& stored, const DecodeRequest& request, int channels, cv::Mat& out) {
  cv::Mat colors = stored;
  if (channels == kAlphaChannels)
    colors = with_alpha(stored);
  else if (has_alpha(stored))
    colors = without_alpha(stored, request.background);
  const cv::Mat pixels = in_depth(colors, request.depth);
  if (pixels.channels() == channels) {
    out = pixels;
  } else {
    cv::cvtColor(pixels, out, channels == 1 ? cv::COLOR_RGB2GRAY : cv::COLOR_GRAY2RGB);
  }
  return {0, 0, static_cast<double>(out.cols), static_cast<double>(out.rows)};
}

}  // namespace tpack
