#include "cpu/convolution/image_pairs.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/parallel.h"
#include "cpu/products/pair_grid.h"
#include "cpu/products/pair_products.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

using simd::kPairLanes;
using simd::kPairRows;
using simd::kPairVectors;

constexpr int64_t kBlockFloats = kPairRows * kPairVectors * kPairLanes;  // of a block of sums

/// Images of bfloat16, and the bytes from one index to the next one.
struct PairImages {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t image_step = 0;
  int64_t block_step = 0;  // 16 channels
  int64_t row_step = 0;
  int64_t pixel_step = 0;
  bool is_padded = false;  // the last block has 16 channels, too

  PairImages(const Shape& s, Layout layout)
      : channels(s[1]), height(s[2]), width(s[3]), is_padded(layout == Layout::kBlocked) {
    pixel_step = kBytes * (is_padded ? kBlockChannels : channels);
    row_step = width * pixel_step;
    block_step = is_padded ? height * row_step : kBytes * kBlockChannels;
    image_step = is_padded ? blocks() * block_step : height * row_step;
  }
  static constexpr int64_t kBytes = 2;
  int64_t blocks() const { return ceil_div(channels, kBlockChannels); }
};

/// The outputs o in `all` whose input o stride + offset is one of 0..size-1.
PairRange valid(const PairRange& all, int64_t stride, int64_t offset, int64_t size) {
  const int64_t first = offset < 0 ? ceil_div(-offset, stride) : 0;
  const int64_t end = offset < size ? (size - 1 - offset) / stride + 1 : 0;
  const PairRange some = {std::max(all.begin, first), std::min(all.end, end)};
  return some.begin < some.end ? some : PairRange{};
}

/// Some rows of the outputs for some pairs of images, and the rows of their inputs.
struct ImageChunk {
  PairRange pairs;
  PairRange out_rows;
  PairRange in_rows;
};

class ImagePairsKernel final : public Kernel {
 public:
  ImagePairsKernel(const ConvolutionParams& p, const Shape& window, int64_t images, PairImages x,
                   PairImages y, int pieces)
      : p_(p), window_(window), images_(images), x_(x), y_(y) {
    if (taps() == 1) {  // only these pixels are needed
      x_.row_step *= p_.stride.h;
      x_.pixel_step *= p_.stride.w;
      x_.height = y_.height;
      x_.width = y_.width;
      p_.stride = {1, 1};
    }
    const int64_t x_pixels = p_.stride.h * p_.stride.w;  // for one of y
    const int64_t most =
        std::clamp(kCachePairs / (x_.channels * x_pixels + y_.channels), kFewestPixels, kMostPixels);
    chunk_rows_ = evenly(y_.height, most / y_.width);
    chunk_pairs_ = chunk_rows_ == y_.height ? evenly(pairs(), most / (y_.height * y_.width)) : 1;
    chunk_in_rows_ =
        std::min(x_.height, (chunk_rows_ - 1) * p_.stride.h + (window_[2] - 1) * p_.dilation.h + 1);
    grid_ = PairGrid({.row_panels = ceil_div(x_.channels, kPairRows),
                      .column_panels = ceil_div(y_.blocks(), kPairVectors),
                      .vectors = y_.blocks() == 1 ? 1 : kPairVectors,
                      .products = taps(),
                      .steps = chunks() * chunk_pairs_ * chunk_rows_ * y_.width,
                      .parts = chunks()},
                     pieces);
  }

  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(grid_.step_pieces() * sums() + grid_.pieces() * piece_pairs()) *
           sizeof(float);
  }

  void run(const KernelArgs& args) override {
    Team* team = team_of(args);
    parallel_for(team, grid_.pieces(), grid_.pieces(), 1, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t number = begin; number < end; ++number) run_piece(args, number);
    });
    const int64_t blocks = y_panels() * x_panels();
    parallel_for(team, static_cast<int>(std::min<int64_t>(grid_.pieces(), blocks)), blocks, 1,
                 [&](int64_t begin, int64_t end, int /*piece*/) {
                   for (int64_t i = begin; i < end; ++i) store(args, i / x_panels(), i % x_panels());
                 });
  }

 private:
  // The pixels of a chunk: as many as a part of the second-level cache has room for, but enough to pay for
  // loading and storing sums.
  static constexpr int64_t kCachePairs = int64_t{128} * 1024;
  static constexpr int64_t kFewestPixels = 200;
  static constexpr int64_t kMostPixels = 400;

  /// The size of equal parts of `count` that have at most `most`, and at least one.
  static int64_t evenly(int64_t count, int64_t most) {
    return ceil_div(count, ceil_div(count, std::clamp<int64_t>(most, 1, count)));
  }

  int64_t taps() const { return window_[2] * window_[3]; }
  int64_t pairs() const { return ceil_div(images_, 2); }
  int64_t x_panels() const { return grid_.row_panels(); }
  int64_t y_panels() const { return grid_.column_panels(); }
  int vectors(int64_t y_panel) const {
    return static_cast<int>(std::min<int64_t>(kPairVectors, y_.blocks() - y_panel * kPairVectors));
  }
  int64_t x_block_pairs() const { return chunk_pairs_ * chunk_in_rows_ * x_.width * kPairLanes; }
  int64_t y_block_pairs() const { return chunk_pairs_ * chunk_rows_ * y_.width * kPairLanes; }
  int64_t piece_pairs() const { return x_.blocks() * x_block_pairs() + y_.blocks() * y_block_pairs(); }

  static PairRange x_blocks_of(const PairGrid::Part& panels) {
    return {panels.rows.begin / 2, ceil_div(panels.rows.end, 2)};
  }
  PairRange y_blocks_of(const PairGrid::Part& panels) const {
    return {panels.columns.begin * kPairVectors, std::min(y_.blocks(), panels.columns.end * kPairVectors)};
  }

  int64_t row_chunks() const { return ceil_div(y_.height, chunk_rows_); }
  int64_t chunks() const { return ceil_div(pairs(), chunk_pairs_) * row_chunks(); }
  int64_t sums() const { return y_panels() * x_panels() * taps() * kBlockFloats; }
  /// The sums of some panels, and of part `part` of the chunks.
  float* sums_of(const KernelArgs& args, int64_t part, int64_t y_panel, int64_t x_panel) const {
    return floats_out(args.scratch) + part * sums() +
           (y_panel * x_panels() + x_panel) * taps() * kBlockFloats;
  }

  void run_piece(const KernelArgs& args, int64_t number) const {
    const PairGrid::Part panels = grid_.part(number);
    auto* x = reinterpret_cast<uint32_t*>(sums_of(args, grid_.step_pieces(), 0, 0)) + number * piece_pairs();
    uint32_t* y = x + x_.blocks() * x_block_pairs();
    for (int64_t panel = panels.columns.begin; panel < panels.columns.end; ++panel) {
      std::memset(sums_of(args, panels.of_steps, panel, panels.rows.begin), 0,
                  static_cast<size_t>(panels.rows.size() * taps() * kBlockFloats) * sizeof(float));
    }
    const PairRange x_blocks = x_blocks_of(panels);
    const PairRange y_blocks = y_blocks_of(panels);
    const PairRange chunks = share_of(this->chunks(), panels.of_steps, grid_.step_pieces());
    for (int64_t i = chunks.begin; i < chunks.end; ++i) {
      const ImageChunk chunk = chunk_at(i);
      load(args.in[0], x_, chunk.pairs, chunk.in_rows, x_blocks, x, chunk_in_rows_);
      load(args.in[1], y_, chunk.pairs, chunk.out_rows, y_blocks, y, chunk_rows_);
      Ahead ahead(args, *this, chunk_at(std::min(i + 1, chunks.end - 1)), panels);
      for (int64_t panel = panels.columns.begin; panel < panels.columns.end; ++panel)
        add_products(args, chunk, x, y, panel, panels, ahead);
    }
  }

  ImageChunk chunk_at(int64_t number) const {
    const int64_t pair = number / row_chunks() * chunk_pairs_;
    const int64_t row = number % row_chunks() * chunk_rows_;
    ImageChunk chunk{
        {pair, std::min(pairs(), pair + chunk_pairs_)}, {row, std::min(y_.height, row + chunk_rows_)}, {}};
    const int64_t first = row * p_.stride.h - p_.padding.top;
    const int64_t last =
        (chunk.out_rows.end - 1) * p_.stride.h - p_.padding.top + (window_[2] - 1) * p_.dilation.h;
    chunk.in_rows = {std::clamp<int64_t>(first, 0, x_.height), std::clamp<int64_t>(last + 1, 0, x_.height)};
    return chunk;
  }

  /// Where a row of a block begins in the two images of a pair; the second may be missing.
  std::array<const std::byte*, 2> source(const std::byte* data, const PairImages& images, int64_t pair,
                                         int64_t block, int64_t row) const {
    const std::byte* first =
        data + 2 * pair * images.image_step + block * images.block_step + row * images.row_step;
    return {first, 2 * pair + 1 < images_ ? first + images.image_step : nullptr};
  }

  /// Makes pairs of some blocks of a chunk, in the order of memory. Each block has room for `room` rows of
  /// each pair of images.
  void load(const std::byte* data, const PairImages& images, const PairRange& pairs, const PairRange& rows,
            const PairRange& blocks, uint32_t* to, int64_t room) const {
    const int64_t row_pairs = images.width * kPairLanes;
    const int64_t block_pairs = chunk_pairs_ * room * row_pairs;
    for (int64_t pair = pairs.begin; pair < pairs.end; ++pair) {
      uint32_t* of_pair = to + (pair - pairs.begin) * room * row_pairs;
      if (images.is_padded) {
        for (int64_t block = blocks.begin; block < blocks.end; ++block) {
          for (int64_t row = rows.begin; row < rows.end; ++row) {
            const auto [first, second] = source(data, images, pair, block, row);
            simd::make_pairs({.first = first, .second = second, .step = images.pixel_step}, images.width,
                             of_pair + block * block_pairs + (row - rows.begin) * row_pairs, kPairLanes);
          }
        }
      } else {
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          const auto [first, second] = source(data, images, pair, blocks.begin, row);
          load_pixels(images, first, second, blocks,
                      of_pair + blocks.begin * block_pairs + (row - rows.begin) * row_pairs, block_pairs);
        }
      }
    }
  }

  /// A row of channels-last images.
  static void load_pixels(const PairImages& images, const std::byte* first, const std::byte* second,
                          const PairRange& blocks, uint32_t* to, int64_t block_pairs) {
    const int64_t channels =
        std::min(images.channels, blocks.end * kBlockChannels) - blocks.begin * kBlockChannels;
    for (int64_t pixel = 0; pixel < images.width; ++pixel) {
      simd::make_row_pairs(DType::kBFloat16, first, second, channels, to, block_pairs);
      first += images.pixel_step;
      if (second != nullptr) second += images.pixel_step;
      to += kPairLanes;
    }
  }

  /// Brings the images of the next chunk to the cache, evenly during the products of this one.
  class Ahead {
   public:
    Ahead(const KernelArgs& args, const ImagePairsKernel& kernel, const ImageChunk& chunk,
          const PairGrid::Part& panels)
        : kernel_(kernel),
          chunk_(chunk),
          data_{args.in[0], args.in[1]},
          blocks_{x_blocks_of(panels), kernel.y_blocks_of(panels)} {
      int64_t all = 0;
      for (const size_t i : {0U, 1U}) all += regions(i) * region(i);
      const int64_t blocks_of_sums = panels.rows.size() * panels.columns.size() * kernel.taps();
      share_ = ceil_div(all, blocks_of_sums);
    }

    void advance(simd::PairSteps& steps) {
      steps.ahead[0] = nullptr;
      while (operand_ < 2 && at_ >= regions(operand_) * region(operand_)) {
        ++operand_;
        at_ = 0;
      }
      if (operand_ == 2) return;
      const PairImages& images = operand_ == 0 ? kernel_.x_ : kernel_.y_;
      const int64_t number = at_ / region(operand_);
      const int64_t begin = at_ % region(operand_);
      const int64_t count = images.is_padded ? blocks_[operand_].size() : 1;
      const auto [first, second] =
          kernel_.source(data_[operand_], images, chunk_.pairs.begin + number / count,
                         blocks_[operand_].begin + number % count, rows(operand_).begin);
      steps.ahead[0] = first + begin;
      steps.ahead[1] = (second != nullptr ? second : first) + begin;
      const int64_t some = std::min(share_, region(operand_) - begin);
      steps.ahead_step = ceil_div(some, steps.images * steps.rows * steps.pixels);
      at_ += some;
    }

   private:
    const PairRange& rows(size_t operand) const { return operand == 0 ? chunk_.in_rows : chunk_.out_rows; }
    /// Bytes that are needed one after the other, in each image of a pair: of a block, or with channels last,
    /// of all.
    int64_t region(size_t operand) const {
      return rows(operand).size() * (operand == 0 ? kernel_.x_ : kernel_.y_).row_step;
    }
    int64_t regions(size_t operand) const {
      return chunk_.pairs.size() * (kernel_.x_.is_padded ? blocks_[operand].size() : 1);
    }

    const ImagePairsKernel& kernel_;
    ImageChunk chunk_;
    std::array<const std::byte*, 2> data_;
    std::array<PairRange, 2> blocks_;
    int64_t share_ = 0;   // for each block of sums
    size_t operand_ = 0;  // x, then y
    int64_t at_ = 0;      // in its regions
  };

  /// Adds what a chunk gives to the sums of panel `y_panel` with each panel of x.
  void add_products(const KernelArgs& args, const ImageChunk& chunk, const uint32_t* x, const uint32_t* y,
                    int64_t y_panel, const PairGrid::Part& panels, Ahead& ahead) const {
    const simd::PairStrides in = {chunk_in_rows_ * x_.width * kPairLanes, p_.stride.h * x_.width * kPairLanes,
                                  p_.stride.w * kPairLanes};
    const simd::PairStrides out = {chunk_rows_ * y_.width * kPairLanes, y_.width * kPairLanes, kPairLanes};
    for (int64_t tap = 0; tap < taps(); ++tap) {
      const int64_t down = tap / window_[3] * p_.dilation.h - p_.padding.top;
      const int64_t across = tap % window_[3] * p_.dilation.w - p_.padding.left;
      const PairRange rows = valid(chunk.out_rows, p_.stride.h, down, x_.height);
      const PairRange pixels = valid({0, y_.width}, p_.stride.w, across, x_.width);
      if (rows.size() == 0 || pixels.size() == 0) continue;
      const int64_t in_row = rows.begin * p_.stride.h + down - chunk.in_rows.begin;
      const int64_t in_pixel = pixels.begin * p_.stride.w + across;
      const uint32_t* a = x + in_row * x_.width * kPairLanes + in_pixel * kPairLanes;
      const uint32_t* b = y + y_panel * kPairVectors * y_block_pairs() +
                          (rows.begin - chunk.out_rows.begin) * out.row + pixels.begin * out.pixel;
      simd::PairSteps steps = {.images = chunk.pairs.size(),
                               .rows = rows.size(),
                               .pixels = pixels.size(),
                               .a = in,
                               .b = out,
                               .vectors = vectors(y_panel),
                               .b_vector = y_block_pairs()};
      for (int64_t panel = panels.rows.begin; panel < panels.rows.end; ++panel) {
        ahead.advance(steps);
        simd::add_pair_products(a + panel / 2 * x_block_pairs() + panel % 2 * kPairRows, b, steps,
                                sums_of(args, panels.of_steps, y_panel, panel) + tap * kBlockFloats);
      }
    }
  }

  /// Adds the sums of all parts, in their order, and writes them as weights.
  void store(const KernelArgs& args, int64_t y_panel, int64_t x_panel) const {
    float* sums = sums_of(args, 0, y_panel, x_panel);
    for (int64_t part = 1; part < grid_.step_pieces(); ++part)
      simd::add_to(sums_of(args, part, y_panel, x_panel), sums, static_cast<size_t>(taps() * kBlockFloats));
    const int64_t columns = vectors(y_panel) * kPairLanes;
    const int64_t first = y_panel * kPairVectors * kPairLanes;
    const int64_t filters = std::min(columns, y_.channels - first);
    const int64_t channels = std::min(kPairRows, x_.channels - x_panel * kPairRows);
    for (int64_t filter = 0; filter < filters; ++filter) {
      float* to = floats_out(args.out[0]) + ((first + filter) * x_.channels + x_panel * kPairRows) * taps();
      for (int64_t channel = 0; channel < channels; ++channel) {
        for (int64_t tap = 0; tap < taps(); ++tap)
          *to++ = sums[tap * kBlockFloats + channel * columns + filter];
      }
    }
  }

  ConvolutionParams p_;
  Shape window_;
  int64_t images_;
  PairImages x_;
  PairImages y_;
  int64_t chunk_pairs_ = 1;
  int64_t chunk_rows_ = 1;
  int64_t chunk_in_rows_ = 1;
  PairGrid grid_;
};

}  // namespace

bool image_pairs_fit(const Node& node, const ConvolutionParams& p) {
  const bool gives_weights = node.op->images().outputs.empty();
  if (!gives_weights || !simd::has_pair_products() || p.groups != 1) return false;
  const TensorSpec x = node.inputs[0].spec();
  const TensorSpec y = node.inputs[1].spec();
  const Shape& w = node.outputs[0].shape;
  const bool is_padded = p.padding.top + p.padding.bottom + p.padding.left + p.padding.right > 0;
  return x.dtype == DType::kBFloat16 && y.dtype == DType::kBFloat16 && x.shape[0] > 1 && w[1] >= kPairRows &&
         w[0] >= kPairLanes && !(w[2] * w[3] == 1 && is_padded);
}

PreparedKernel image_pairs_backward_weights(const KernelRequest& request, const ConvolutionParams& p) {
  const Node& n = request.node;
  const TensorSpec x = n.inputs[0].spec();
  const TensorSpec y = n.inputs[1].spec();
  auto kernel = std::make_unique<ImagePairsKernel>(p, n.outputs[0].shape, x.shape[0],
                                                   PairImages(x.shape, request.layout),
                                                   PairImages(y.shape, request.layout), request.pieces);
  const uint64_t scratch_bytes = kernel->scratch_bytes();
  return {std::move(kernel),
          {make_format(x, request.layout), make_format(y, request.layout)},
          {make_format(n.outputs[0], Layout::kPlain)},
          scratch_bytes,
          {}};
}

}  // namespace tpack::cpu
