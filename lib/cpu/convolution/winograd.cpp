#include "cpu/convolution/winograd.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/convolution/simd_winograd.h"
#include "cpu/onednn/onednn.h"
#include "cpu/parallel.h"

namespace tpack::cpu {
namespace {

using simd::kWinogradPoints;
using simd::WinogradImages;
using simd::WinogradProduct;
using simd::WinogradTiles;

constexpr int64_t kLanes = 16;
constexpr int64_t kCacheFloats =
    int64_t{192} * 1024;  // of transformed tiles: a third of a second-level cache

int64_t blocks_of(int64_t channels) { return (channels + kLanes - 1) / kLanes; }
int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Sizes that all three directions share. `in` has the patches, `out` has the tiles.
struct Geometry {
  int64_t images = 0;
  WinogradImages in;
  WinogradImages out;
  int64_t chunk = 0;  // tiles that are processed at once

  Geometry(const Shape& from, const Shape& to, int64_t top, int64_t left, int pieces) : images(from[0]) {
    const int64_t down = (to[2] + simd::kWinogradTile - 1) / simd::kWinogradTile;
    const int64_t across = (to[3] + simd::kWinogradTile - 1) / simd::kWinogradTile;
    in = {blocks_of(from[1]) * kLanes, from[2], from[3], down, across, top, left};
    out = {blocks_of(to[1]) * kLanes, to[2], to[3], down, across, 0, 0};
    const int64_t fitting = kCacheFloats / (kWinogradPoints * (in.channels + out.channels));
    // As many chunks as give every piece the same number of them.
    const int64_t fewest =
        (tiles() + std::max(fitting, simd::kWinogradRows) - 1) / std::max(fitting, simd::kWinogradRows);
    const int64_t count = rounded_up(fewest, pieces);
    chunk = rounded_up((tiles() + count - 1) / count, simd::kWinogradRows);
  }
  int64_t tiles() const { return images * in.tiles(); }
  int64_t chunks() const { return (tiles() + chunk - 1) / chunk; }
  WinogradTiles tiles_of(int64_t index, int64_t channels) const {
    return {index * chunk, std::min(chunk, tiles() - index * chunk), stride(channels)};
  }
  /// An odd number of cache lines: the 36 points of one tile are in different sets of the cache.
  int64_t stride(int64_t channels) const { return (chunk * channels / kLanes | 1) * kLanes; }
  int64_t in_floats() const { return kWinogradPoints * stride(in.channels); }
  int64_t out_floats() const { return kWinogradPoints * stride(out.channels); }
  int64_t filter_floats() const { return in.channels * out.channels; }  // at one point
};

/// The types of the first two images of a node.
struct ImageTypes {
  DType first;
  DType second;
};

/// Weights [rows, columns, 3, 3] as blocks of filters side by side.
struct Filters {
  int64_t rows;     // output channels of the convolution that they belong to
  int64_t columns;  // its input channels
  bool backward;    // input and output swap places, and the window is rotated by 180 degrees

  int64_t in() const { return backward ? rows : columns; }
  int64_t out() const { return backward ? columns : rows; }
  int64_t at(int64_t from, int64_t to, int64_t place) const {
    return backward ? (from * columns + to) * 9 + 8 - place : (to * columns + from) * 9 + place;
  }
};

/// Filters of one input channel and 16 output channels, place by place.
using FilterBlock = std::array<float, 9 * kLanes>;

FilterBlock load_filters(const float* w, const Filters& f, int64_t in, int64_t block) {
  FilterBlock filters{};
  const int64_t count = std::min(kLanes, f.out() - block * kLanes);
  for (int64_t lane = 0; lane < count && in < f.in(); ++lane) {
    for (int64_t place = 0; place < 9; ++place)
      filters[static_cast<size_t>(place * kLanes + lane)] = w[f.at(in, block * kLanes + lane, place)];
  }
  return filters;
}

/// Convolution, and the gradient of its input, which is a convolution too.
class ForwardKernel final : public Kernel {
 public:
  /// `types`: of the input and the output.
  ForwardKernel(const Geometry& geometry, const Filters& filters, const Epilogue& epilogue, ImageTypes types,
                int pieces)
      : g_(geometry), filters_(filters), epilogue_(epilogue), types_(types), pieces_(pieces) {}

  uint64_t scratch_bytes() const {
    const int64_t all = kWinogradPoints * g_.filter_floats() + g_.out.channels + pieces_ * piece_floats();
    return static_cast<uint64_t>(all) * sizeof(float);
  }

  void run(const KernelArgs& args) override {
    float* filters = floats_out(args.scratch);
    float* bias = filters + kWinogradPoints * g_.filter_floats();
    float* rest = bias + g_.out.channels;
    transform_filters(team_of(args), floats(args.in[1]), filters);
    if (epilogue_.bias) {
      std::memset(bias, 0, static_cast<size_t>(g_.out.channels) * sizeof(float));
      std::memcpy(bias, args.in[2], static_cast<size_t>(filters_.out()) * sizeof(float));
    }
    parallel_for(team_of(args), pieces_, g_.chunks(), 1, [&](int64_t begin, int64_t end, int piece) {
      float* in = rest + piece * piece_floats();
      for (int64_t chunk = begin; chunk < end; ++chunk)
        work_on(chunk, args.in[0], filters, epilogue_.bias ? bias : nullptr, in, args.out[0]);
    });
  }

 private:
  int64_t piece_floats() const { return g_.in_floats() + g_.out_floats(); }

  void transform_filters(Team* team, const float* w, float* to) const {
    parallel_for(team, pieces_, g_.in.channels, kLanes, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t in = begin; in < end; ++in) {
        for (int64_t block = 0; block < g_.out.channels / kLanes; ++block) {
          const FilterBlock filters = load_filters(w, filters_, in, block);
          simd::winograd_filter(filters.data(), g_.filter_floats(),
                                to + in * g_.out.channels + block * kLanes);
        }
      }
    });
  }

  void work_on(int64_t chunk, std::byte* x, const float* filters, const float* bias, float* in,
               std::byte* y) const {
    float* out = in + g_.in_floats();
    const WinogradTiles tiles = g_.tiles_of(chunk, g_.in.channels);
    simd::winograd_input(types_.first, x, g_.in, tiles, in);
    WinogradProduct p;
    p.rows = rounded_up(tiles.count, simd::kWinogradRows);
    p.inner = p.a_row = g_.in.channels;
    p.columns = g_.out.channels;
    p.a_inner = 1;
    p.a_stride = tiles.stride;
    if (p.rows > tiles.count) clear_rows(in, tiles, p.rows);
    const WinogradTiles results = g_.tiles_of(chunk, g_.out.channels);
    simd::winograd_multiply(p, in, filters, out, g_.filter_floats(), results.stride);
    simd::winograd_output(out, g_.out, results, bias, epilogue_.relu, types_.second, y);
  }

  /// Rows that only pad the last product.
  void clear_rows(float* in, const WinogradTiles& tiles, int64_t rows) const {
    const int64_t used = tiles.count * g_.in.channels;
    for (int64_t point = 0; point < kWinogradPoints; ++point)
      std::fill_n(in + point * tiles.stride + used, rows * g_.in.channels - used, 0.0F);
  }

  Geometry g_;
  Filters filters_;
  Epilogue epilogue_;
  ImageTypes types_;
  int pieces_;
};

/// The gradient of the weights: products of transformed patches and transformed gradients, summed over the
/// tiles of each piece, then over the pieces in their order.
class BackwardWeightsKernel final : public Kernel {
 public:
  /// `types`: of the input and the gradient.
  BackwardWeightsKernel(const Geometry& geometry, const Filters& filters, ImageTypes types, int pieces)
      : g_(geometry), filters_(filters), types_(types), pieces_(pieces) {}

  uint64_t scratch_bytes() const { return static_cast<uint64_t>(pieces_ * piece_floats()) * sizeof(float); }

  void run(const KernelArgs& args) override {
    float* scratch = floats_out(args.scratch);
    const int used = pieces_for(pieces_, g_.chunks(), 1);
    parallel_for(team_of(args), used, g_.chunks(), 1, [&](int64_t begin, int64_t end, int piece) {
      float* sums = scratch + piece * piece_floats();
      for (int64_t chunk = begin; chunk < end; ++chunk)
        work_on(chunk, chunk > begin, args.in[0], args.in[1], sums);
    });
    parallel_for(team_of(args), pieces_, g_.in.channels, kLanes,
                 [&](int64_t begin, int64_t end, int /*piece*/) {
                   for (int64_t in = begin; in < end; ++in)
                     combine(in, used, scratch, floats_out(args.out[0]));
                 });
  }

 private:
  int64_t sums_floats() const { return kWinogradPoints * g_.filter_floats(); }
  int64_t piece_floats() const { return sums_floats() + g_.in_floats() + g_.out_floats(); }

  void work_on(int64_t chunk, bool add, std::byte* x, std::byte* dy, float* sums) const {
    float* in = sums + sums_floats();
    float* out = in + g_.in_floats();
    const WinogradTiles patches = g_.tiles_of(chunk, g_.in.channels);
    const WinogradTiles gradients = g_.tiles_of(chunk, g_.out.channels);
    simd::winograd_input(types_.first, x, g_.in, patches, in);
    simd::winograd_gradient(types_.second, dy, g_.out, gradients, out);
    WinogradProduct p;
    p.rows = p.a_inner = g_.in.channels;
    p.inner = patches.count;
    p.columns = g_.out.channels;
    p.a_row = 1;
    p.a_stride = patches.stride;
    p.add = add;
    simd::winograd_multiply(p, in, out, sums, gradients.stride, g_.filter_floats());
  }

  void combine(int64_t in, int used, float* scratch, float* dw) const {
    if (in >= filters_.in()) return;
    for (int64_t block = 0; block < g_.out.channels / kLanes; ++block) {
      float* sums = scratch + in * g_.out.channels + block * kLanes;
      for (int piece = 1; piece < used; ++piece) {
        const float* other = sums + piece * piece_floats();
        for (int64_t point = 0; point < kWinogradPoints; ++point) {
          for (int64_t lane = 0; lane < kLanes; ++lane)
            sums[point * g_.filter_floats() + lane] += other[point * g_.filter_floats() + lane];
        }
      }
      FilterBlock filters;
      simd::winograd_filter_gradient(sums, g_.filter_floats(), filters.data());
      const int64_t count = std::min(kLanes, filters_.out() - block * kLanes);
      for (int64_t lane = 0; lane < count; ++lane) {
        for (int64_t place = 0; place < 9; ++place)
          dw[filters_.at(in, block * kLanes + lane, place)] =
              filters[static_cast<size_t>(place * kLanes + lane)];
      }
    }
  }

  Geometry g_;
  Filters filters_;
  ImageTypes types_;
  int pieces_;
};

template <class Kernel>
PreparedKernel prepared(std::unique_ptr<Kernel> kernel, std::vector<Format> in, std::vector<Format> out) {
  const uint64_t scratch = kernel->scratch_bytes();
  return {std::move(kernel), std::move(in), std::move(out), scratch, {}};
}

Format image(const TensorSpec& spec) { return make_format(spec, Layout::kBlocked); }
Format plain(const TensorSpec& spec) { return make_format(spec, Layout::kPlain); }

}  // namespace

bool tiled_winograd_fits(const ConvolutionParams& p, const Shape& weights) {
  return weights[2] == 3 && weights[3] == 3 && p.stride == Size2{1, 1} && p.dilation == Size2{1, 1} &&
         p.groups == 1;
}

bool onednn_winograd_fits(const ConvolutionParams& p) {
  const Padding2 same = {1, 1, 1, 1};
  return has_avx512() && (p.padding == same || p.padding == Padding2{});
}

PreparedKernel tiled_winograd_forward(const KernelRequest& request, const ConvolutionParams& p,
                                      const Epilogue& epilogue) {
  const Node& n = request.node;
  const Shape& w = n.inputs[1].shape();
  const Geometry geometry(n.inputs[0].shape(), n.outputs[0].shape, p.padding.top, p.padding.left,
                          request.pieces);
  std::vector<Format> in = {image(n.inputs[0].spec()), plain(n.inputs[1].spec())};
  if (epilogue.bias) in.push_back(plain(n.inputs[2].spec()));
  return prepared(
      std::make_unique<ForwardKernel>(geometry, Filters{w[0], w[1], false}, epilogue,
                                      ImageTypes{n.inputs[0].dtype(), n.outputs[0].dtype}, request.pieces),
      in, {image(n.outputs[0])});
}

PreparedKernel tiled_winograd_backward_data(const KernelRequest& request, const ConvolutionParams& p) {
  const Node& n = request.node;
  const Shape& w = n.inputs[1].shape();
  const Geometry geometry(n.inputs[0].shape(), n.outputs[0].shape, 2 - p.padding.top, 2 - p.padding.left,
                          request.pieces);
  return prepared(
      std::make_unique<ForwardKernel>(geometry, Filters{w[0], w[1], true}, Epilogue{},
                                      ImageTypes{n.inputs[0].dtype(), n.outputs[0].dtype}, request.pieces),
      {image(n.inputs[0].spec()), plain(n.inputs[1].spec())}, {image(n.outputs[0])});
}

PreparedKernel tiled_winograd_backward_weights(const KernelRequest& request, const ConvolutionParams& p) {
  const Node& n = request.node;
  const Shape& w = n.outputs[0].shape;
  const Geometry geometry(n.inputs[0].shape(), n.inputs[1].shape(), p.padding.top, p.padding.left,
                          request.pieces);
  return prepared(std::make_unique<BackwardWeightsKernel>(
                      geometry, Filters{w[0], w[1], false},
                      ImageTypes{n.inputs[0].dtype(), n.inputs[1].dtype()}, request.pieces),
                  {image(n.inputs[0].spec()), image(n.inputs[1].spec())}, {plain(n.outputs[0])});
}

}  // namespace tpack::cpu
