#include "cpu/convolution/winograd_pairs.h"

#include <algorithm>
#include <array>

#include "cpu/convolution/pair_transforms.h"
#include "cpu/convolution/winograd.h"
#include "cpu/parallel.h"
#include "cpu/products/pair_grid.h"

namespace tpack::cpu {
namespace {

using simd::kPairLanes;
using simd::kPairPoints;
using simd::kPairRows;
using simd::kPairTile;
using simd::kPairVectors;

constexpr int64_t kPlaces = 9;  // of a filter

/// Images whose channels fill blocks of 16.
struct PairImageLayout {
  DType type;
  Shape shape;
  int64_t pixel_step;  // bytes
  int64_t row_step;
  int64_t block_step;
  int64_t image_step;

  PairImageLayout(const TensorSpec& spec, Layout layout) : type(spec.dtype), shape(spec.shape) {
    const bool is_blocked = layout == Layout::kBlocked;
    const auto number = static_cast<int64_t>(size_of(spec.dtype));
    pixel_step = number * (is_blocked ? kPairLanes : shape[1]);
    row_step = shape[3] * pixel_step;
    block_step = is_blocked ? shape[2] * row_step : number * kPairLanes;
    image_step = number * shape[1] * shape[2] * shape[3];
  }
  int64_t channels() const { return shape[1]; }
  int64_t blocks() const { return shape[1] / kPairLanes; }
  simd::PairImage at(std::byte* data, int64_t image, int64_t block) const {
    return {type, data + image * image_step + block * block_step, shape[2], shape[3], row_step, pixel_step};
  }
};

/// Weights [rows, columns, 3, 3] of a convolution, or of the gradient of its input: there, input and output
/// swap places, and the window is rotated by 180 degrees.
struct PairFilters {
  int64_t columns;
  bool backward;

  int64_t at(int64_t from, int64_t to, int64_t place) const {
    return backward ? (from * columns + to) * kPlaces + kPlaces - 1 - place
                    : (to * columns + from) * kPlaces + place;
  }
};

class PairWinogradKernel final : public Kernel {
 public:
  /// `top`, `left`: rows and columns of zeros before the first ones of the input.
  PairWinogradKernel(const PairImageLayout& in, const PairImageLayout& out, const PairFilters& filters,
                     int64_t top, int64_t left, const Epilogue& epilogue, int pieces)
      : in_(in), out_(out), filters_(filters), top_(top), left_(left), epilogue_(epilogue), pieces_(pieces) {
    const int64_t fitting = kCacheNumbers / (kPairPoints * in_.channels()) / kPairRows * kPairRows;
    const int64_t most = std::clamp(fitting, kFewestTiles, kMostTiles);
    // As many chunks as give every piece the same number of them.
    const int64_t count = ceil_div(ceil_div(tiles(), most), pieces_) * pieces_;
    chunk_ = ceil_div(ceil_div(tiles(), count), kPairRows) * kPairRows;
  }

  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(kPairPoints * filter_pairs() + pieces_ * piece_words()) * sizeof(uint32_t);
  }

  void run(const KernelArgs& args) override {
    auto* filters = reinterpret_cast<uint32_t*>(args.scratch);
    const float* weights = floats(args.in[1]);
    Team* team = team_of(args);
    parallel_for(team, pieces_, in_.channels() / 2, 8, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t pair = begin; pair < end; ++pair) transform_filters(weights, pair, filters);
    });
    parallel_for(team, pieces_, ceil_div(tiles(), chunk_), 1, [&](int64_t begin, int64_t end, int piece) {
      for (int64_t i = begin; i < end; ++i)
        work_on({i * chunk_, std::min(tiles(), (i + 1) * chunk_)}, args, piece);
    });
  }

 private:
  // Transformed patches of a chunk take a quarter of the second-level cache.
  static constexpr int64_t kCacheNumbers = int64_t{128} * 1024;
  static constexpr int64_t kFewestTiles = 16;
  static constexpr int64_t kMostTiles = 128;

  int64_t down() const { return ceil_div(out_.shape[2], kPairTile); }
  int64_t across() const { return ceil_div(out_.shape[3], kPairTile); }
  int64_t tiles() const { return out_.shape[0] * down() * across(); }
  int64_t filter_pairs() const { return in_.channels() / 2 * out_.channels(); }  // at one point
  int64_t patch_words() const { return kPairPoints * chunk_ * in_.channels() / 2; }
  int64_t piece_words() const { return patch_words() + kPairPoints * chunk_ * kPairVectors * kPairLanes; }

  /// Where a tile is.
  struct Place {
    int64_t image;
    int64_t row;
    int64_t column;
  };
  Place place_of(int64_t tile) const {
    return {tile / (down() * across()), tile / across() % down() * kPairTile, tile % across() * kPairTile};
  }

  /// Pairs of two input channels and each output channel: [point][block of 16 filters][pair][16].
  void transform_filters(const float* weights, int64_t pair, uint32_t* to) const {
    using Block = std::array<float, kPlaces * kPairLanes>;
    for (int64_t block = 0; block < out_.blocks(); ++block) {
      std::array<Block, 2> channels{};
      for (int64_t i = 0; i < 2; ++i) {
        for (int64_t lane = 0; lane < kPairLanes; ++lane) {
          for (int64_t place = 0; place < kPlaces; ++place) {
            channels[static_cast<size_t>(i)][static_cast<size_t>(place * kPairLanes + lane)] =
                weights[filters_.at(2 * pair + i, block * kPairLanes + lane, place)];
          }
        }
      }
      simd::transform_filters(channels[0].data(), channels[1].data(),
                              to + (block * in_.channels() / 2 + pair) * kPairLanes, filter_pairs());
    }
  }

  void work_on(const PairRange& tiles, const KernelArgs& args, int piece) const {
    const auto* filters = reinterpret_cast<const uint32_t*>(args.scratch);
    auto* patches =
        reinterpret_cast<uint32_t*>(args.scratch) + kPairPoints * filter_pairs() + piece * piece_words();
    auto* sums = reinterpret_cast<float*>(patches + patch_words());
    transform_patches(tiles, args.in[0], reinterpret_cast<uint16_t*>(patches));
    for (int64_t block = 0; block < out_.blocks(); block += kPairVectors) {
      const auto vectors = static_cast<int>(std::min<int64_t>(kPairVectors, out_.blocks() - block));
      multiply(tiles, filters + block * in_.channels() / 2 * kPairLanes, vectors, patches, sums);
      for (int v = 0; v < vectors; ++v)
        store(tiles, block + v, args, sums + v * kPairLanes, vectors * kPairLanes);
    }
  }

  void transform_patches(const PairRange& tiles, std::byte* x, uint16_t* to) const {
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const Place place = place_of(tile);
      for (int64_t block = 0; block < in_.blocks(); ++block) {
        simd::transform_patch(in_.at(x, place.image, block), place.row - top_, place.column - left_,
                              to + (tile - tiles.begin) * in_.channels() + block * kPairLanes,
                              chunk_ * in_.channels());
      }
    }
  }

  /// [point][tile][16 or 32 filters]. Rows after the last tile are computed from what is there, and not used.
  void multiply(const PairRange& tiles, const uint32_t* filters, int vectors, const uint32_t* patches,
                float* sums) const {
    const int64_t pairs = in_.channels() / 2;
    const simd::PairSteps steps = {.pixels = pairs,
                                   .a = {0, 0, 1},
                                   .b = {0, 0, kPairLanes},
                                   .vectors = vectors,
                                   .add = false,
                                   .a_row = pairs,
                                   .b_vector = pairs * kPairLanes};
    for (int64_t point = 0; point < kPairPoints; ++point) {
      for (int64_t tile = 0; tile < tiles.size(); tile += kPairRows) {
        simd::add_pair_products(patches + (point * chunk_ + tile) * pairs, filters + point * filter_pairs(),
                                steps, sums + (point * chunk_ + tile) * vectors * kPairLanes);
      }
    }
  }

  void store(const PairRange& tiles, int64_t block, const KernelArgs& args, const float* sums,
             int64_t tile_step) const {
    const float* bias = epilogue_.bias ? floats(args.in[2]) + block * kPairLanes : nullptr;
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const Place place = place_of(tile);
      simd::store_tile(sums + (tile - tiles.begin) * tile_step, chunk_ * tile_step, bias, epilogue_.relu,
                       out_.at(args.out[0], place.image, block), place.row, place.column);
    }
  }

  PairImageLayout in_;
  PairImageLayout out_;
  PairFilters filters_;
  int64_t top_;
  int64_t left_;
  Epilogue epilogue_;
  int pieces_;
  int64_t chunk_ = 0;  // tiles that are processed at once
};

PreparedKernel prepare_pair_winograd(const KernelRequest& request, bool backward, int64_t top, int64_t left,
                                     const Epilogue& epilogue) {
  const Node& n = request.node;
  const TensorSpec in = n.inputs[0].spec();
  const TensorSpec w = {DType::kFloat32, n.inputs[1].shape()};
  auto kernel = std::make_unique<PairWinogradKernel>(
      PairImageLayout(in, request.layout), PairImageLayout(n.outputs[0], request.layout),
      PairFilters{w.shape[1], backward}, top, left, epilogue, request.pieces);
  const uint64_t scratch_bytes = kernel->scratch_bytes();
  PreparedKernel prepared = {std::move(kernel),
                             {make_format(in, request.layout), make_format(w, Layout::kPlain)},
                             {make_format(n.outputs[0], request.layout)},
                             scratch_bytes,
                             {}};
  if (epilogue.bias) prepared.in.push_back(make_format(n.inputs[2].spec(), Layout::kPlain));
  return prepared;
}

}  // namespace

bool pair_winograd_fits(const Node& node, const ConvolutionParams& p) {
  const bool gives_images = !node.op->images().outputs.empty();
  if (!gives_images || !simd::has_pair_products() || node.inputs[0].dtype() != DType::kBFloat16) return false;
  const Shape& w = node.inputs[1].shape();
  return tiled_winograd_fits(p, w) && w[0] % kPairLanes == 0 && w[1] % kPairLanes == 0;
}

PreparedKernel pair_winograd_forward(const KernelRequest& request, const ConvolutionParams& p,
                                     const Epilogue& epilogue) {
  return prepare_pair_winograd(request, false, p.padding.top, p.padding.left, epilogue);
}

PreparedKernel pair_winograd_backward_data(const KernelRequest& request, const ConvolutionParams& p) {
  return prepare_pair_winograd(request, true, 2 - p.padding.top, 2 - p.padding.left, {});
}

}  // namespace tpack::cpu
