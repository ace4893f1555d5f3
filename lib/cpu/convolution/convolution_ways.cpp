#include "cpu/convolution/convolution_ways.h"

#include <algorithm>
#include <string>

#include "cpu/convolution/image_pairs.h"
#include "cpu/convolution/winograd.h"
#include "cpu/convolution/winograd_pairs.h"
#include "cpu/onednn/onednn.h"

namespace tpack::cpu {
namespace {

constexpr double kWinogradGain = 1.5;
// The same for images of 16 bits: it computes in float32, while direct convolutions multiply bfloat16.
constexpr double kWinogradGainInHalf = 0.75;
constexpr double kWinogradGainNextToAmx = 0.2;
constexpr int64_t kMinForPairWinograd = 64;
constexpr double kPairWinogradGain = 1.3;
constexpr double kPairWinogradGainNextToAmx = 0.5;
constexpr double kImagePairsGain = 1.2;
constexpr double kImagePairsGainNextToAmx = 0.6;
constexpr double kBlockedGainNextToAmx = 0.07;  // oneDNN multiplies tiles of channels-last images only

/// Weights that a convolution reads, or whose gradient it computes.
const Shape& weights_of(const Node& node) {
  const bool gives_weights = node.op->images().outputs.empty();
  return gives_weights ? node.outputs[0].shape : node.inputs[1].shape();
}

/// Whether there are too few results to pay for the transforms of the filters: small images, one by one.
bool is_small(const Node& node) {
  constexpr int64_t kFewResults = 512;
  const bool gives_images = !node.op->images().outputs.empty();
  const Shape& y = gives_images ? node.outputs[0].shape : node.inputs[1].shape();
  return y[0] * y[2] * y[3] < kFewResults;
}

/// The Winograd algorithms that exist here and may win, with the one that usually wins first. There must be
/// enough channels to pay for the transforms, and few enough that the transformed filters stay in the cache.
std::vector<std::string> winograds(const Node& node, const ConvolutionParams& p) {
  constexpr int64_t kMinChannels = 16;
  constexpr int64_t kMinForOneDnn = 32;
  constexpr int64_t kMaxTiledElements = 128;
  const Shape& w = weights_of(node);
  const int64_t fewest = std::min(w[0], w[1]);
  const int64_t most = std::max(w[0], w[1]);
  if (!tiled_winograd_fits(p, w) || fewest < kMinChannels || is_small(node)) return {};
  if (is_half(node.inputs[0].dtype()) || fewest < kMinForOneDnn || !onednn_winograd_fits(p))
    return {kTiledWinograd};
  if (most <= kMaxTiledElements) return {kTiledWinograd, "winograd"};
  return {"winograd", kTiledWinograd};
}

/// Whether the first of them usually wins, in float32. The tiled one is slower than direct convolutions where
/// the transformed filters are larger than the cache, except for gradients of weights, whose filters are
/// results.
bool usually_wins(const std::string& winograd, const Node& node) {
  constexpr int64_t kMaxTiledElements = 256;
  const Shape& w = weights_of(node);
  const bool gives_weights = node.outputs[0].shape == w;
  return winograd != kTiledWinograd || gives_weights || std::max(w[0], w[1]) <= kMaxTiledElements;
}

}  // namespace

std::vector<Way> convolution_ways(const Node& node, bool only_direct) {
  const bool half = is_half(node.inputs[0].dtype());
  const bool half_in_tiles = half && has_amx();
  std::vector<Way> ways = {{Layout::kNhwc, "direct"}};
  // Without AVX-512, oneDNN has only its reference kernels for this layout.
  if (has_avx512()) ways.push_back({Layout::kBlocked, "direct", half_in_tiles ? kBlockedGainNextToAmx : 1});
  const ConvolutionParams* window = node.op->window();
  TPACK_ASSERT(window != nullptr, node.path + " is not a convolution");
  if (only_direct) return ways;
  const std::vector<std::string> algorithms = winograds(node, *window);
  for (const std::string& algorithm : algorithms) ways.push_back({Layout::kBlocked, algorithm});
  for (Way& way : ways) {
    if (algorithms.empty() || way.algorithm != algorithms.front()) continue;
    const double gain = usually_wins(way.algorithm, node) ? kWinogradGain : 1 / kWinogradGain;
    way.gain = half ? (half_in_tiles ? kWinogradGainNextToAmx : kWinogradGainInHalf) : gain;
  }
  // With fewer channels, the transforms take as long as the products that they save.
  const Shape& w = weights_of(node);
  if (pair_winograd_fits(node, *window) && std::min(w[0], w[1]) >= kMinForPairWinograd && !is_small(node)) {
    const double gain = half_in_tiles ? kPairWinogradGainNextToAmx : kPairWinogradGain;
    for (const Layout layout : {Layout::kNhwc, Layout::kBlocked})
      ways.push_back({layout, kPairWinograd, gain});
  }
  if (image_pairs_fit(node, *window)) {
    const double gain = half_in_tiles ? kImagePairsGainNextToAmx : kImagePairsGain;
    for (const Layout layout : {Layout::kNhwc, Layout::kBlocked}) ways.push_back({layout, kImagePairs, gain});
  }
  return ways;
}

}  // namespace tpack::cpu
