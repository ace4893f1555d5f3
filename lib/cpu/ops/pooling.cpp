#include "ops/pooling.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/kernel.h"
#include "cpu/ops/simd_pooling.h"
#include "cpu/parallel.h"

namespace tpack::cpu {
namespace {

/// An image as planes of pixels, where each pixel is a run of adjacent channels: the whole pixel in nhwc, 16
/// channels in nChw16c, one in plain layout.
struct Planes {
  int64_t count = 0;
  int64_t channels = 0;  // side by side

  Planes(const Shape& shape, Layout layout) {
    const int64_t padded = padded_channels(shape, layout);
    channels = layout == Layout::kNhwc ? shape[1] : (layout == Layout::kBlocked ? 16 : 1);
    count = shape[0] * padded / channels;
  }
};

/// The pixels under the window of one output pixel: the first `count` entries are used.
struct Covered {
  size_t count = 0;
  std::vector<int64_t> offsets;  // from the plane's first element, in elements
  std::vector<uint8_t> numbers;  // of the places inside the window; a max pooling has at most 256

  explicit Covered(size_t window) : offsets(window), numbers(window) {}
};

/// What all five kernels share: iterating over output pixels, row by row, with the input pixels under their
/// windows.
class PoolingWalk {
 public:
  PoolingWalk(const PoolingParams& p, const Shape& image, const Shape& pooled, Layout layout, int pieces)
      : p_(p),
        planes_(image, layout),
        image_{image[2], image[3]},
        pooled_{pooled[2], pooled[3]},
        pieces_(pieces),
        covered_(std::make_shared<std::vector<Covered>>(
            static_cast<size_t>(pieces), Covered(static_cast<size_t>(p.window.h * p.window.w)))) {}

  int64_t image_plane() const { return image_.h * image_.w * planes_.channels; }
  int64_t pooled_plane() const { return pooled_.h * pooled_.w * planes_.channels; }

  /// f(offset of the image plane, offset of the first output pixel, windows); planes in parallel.
  template <class F>
  void each(Team* team, const F& f) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, image_plane()));
    parallel_for(team, pieces_, planes_.count, grain, [&](int64_t begin, int64_t end, int piece) {
      Covered& covered = (*covered_)[static_cast<size_t>(piece)];
      for (int64_t plane = begin; plane < end; ++plane) {
        for (int64_t y = 0; y < pooled_.h; ++y) each_run(plane, y, covered, f);
      }
    });
  }

  /// True if every image pixel is under exactly one window.
  bool tiles_exactly() const {
    const bool no_padding = p_.padding == Padding2{};
    return no_padding && p_.stride == p_.window && image_.h == pooled_.h * p_.window.h &&
           image_.w == pooled_.w * p_.window.w;
  }

  /// Zeros the whole image, of elements of `width` bytes.
  void clear(Team* team, std::byte* image, int64_t width) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, image_plane()));
    parallel_for(team, pieces_, planes_.count, grain, [&](int64_t begin, int64_t end, int /*piece*/) {
      std::memset(image + begin * image_plane() * width, 0,
                  static_cast<size_t>((end - begin) * image_plane() * width));
    });
  }

 private:
  /// The output pixels of a row: those whose windows are completely inside the image horizontally in one run,
  /// the others one by one.
  template <class F>
  void each_run(int64_t plane, int64_t y, Covered& covered, const F& f) const {
    for (int64_t x = 0, next = 0; x < pooled_.w; x = next) {
      next = inside(x) ? last_inside(x) + 1 : x + 1;
      cover(y, x, covered);
      simd::Windows windows;
      windows.channels = static_cast<size_t>(planes_.channels);
      windows.offsets = covered.offsets.data();
      windows.numbers = covered.numbers.data();
      windows.places = covered.count;
      windows.count = static_cast<size_t>(next - x);
      windows.step = p_.stride.w * planes_.channels;
      f(plane * image_plane(), plane * pooled_plane() + (y * pooled_.w + x) * planes_.channels, windows);
    }
  }
  bool inside(int64_t x) const {
    const int64_t left = x * p_.stride.w - p_.padding.left;
    return left >= 0 && left + p_.window.w <= image_.w;
  }
  int64_t last_inside(int64_t x) const {
    while (x + 1 < pooled_.w && inside(x + 1)) ++x;
    return x;
  }

  void cover(int64_t y, int64_t x, Covered& covered) const {
    covered.count = 0;
    for (int64_t ky = 0; ky < p_.window.h; ++ky) {
      const int64_t iy = y * p_.stride.h - p_.padding.top + ky;
      if (iy < 0 || iy >= image_.h) continue;
      for (int64_t kx = 0; kx < p_.window.w; ++kx) {
        const int64_t ix = x * p_.stride.w - p_.padding.left + kx;
        if (ix < 0 || ix >= image_.w) continue;
        covered.offsets[covered.count] = (iy * image_.w + ix) * planes_.channels;
        covered.numbers[covered.count++] = static_cast<uint8_t>(ky * p_.window.w + kx);
      }
    }
  }

  PoolingParams p_;
  Planes planes_;
  Size2 image_;
  Size2 pooled_;
  int pieces_;
  std::shared_ptr<std::vector<Covered>> covered_;  // by piece, so that a step allocates nothing
};

PreparedKernel prepared(const KernelRequest& r, std::unique_ptr<Kernel> kernel) {
  return {std::move(kernel), input_formats(r.node, r.layout), output_formats(r.node, r.layout), 0, {}};
}

const uint8_t* indices(std::byte* data) { return reinterpret_cast<const uint8_t*>(data); }

/// The type of a node's images.
struct ImageType {
  DType type;
  int64_t width;  // bytes of an element

  explicit ImageType(const KernelRequest& r)
      : type(r.node.inputs[0].dtype()), width(static_cast<int64_t>(size_of(type))) {}
  std::byte* at(std::byte* image, int64_t element) const { return image + element * width; }
};

PreparedKernel max_pool(const KernelRequest& r) {
  const ImageType type(r);
  const PoolingWalk walk(op_cast<MaxPool>(r.node)->params(), r.node.inputs[0].shape(),
                         r.node.outputs[0].shape, r.layout, r.pieces);
  return prepared(r, make_kernel([walk, type](const KernelArgs& args) {
                    walk.each(team_of(args), [&](int64_t plane, int64_t at, const simd::Windows& w) {
                      simd::max_of(type.type, type.at(args.in[0], plane), w, type.at(args.out[0], at),
                                   reinterpret_cast<uint8_t*>(args.out[1]) + at);
                    });
                  }));
}

PreparedKernel max_pool_scatter(const KernelRequest& r) {
  const ImageType type(r);
  const PoolingWalk walk(op_cast<MaxPoolScatter>(r.node)->params().pooling, r.node.outputs[0].shape,
                         r.node.inputs[0].shape(), r.layout, r.pieces);
  return prepared(r, make_kernel([walk, type](const KernelArgs& args) {
                    const simd::Scatter how =
                        walk.tiles_exactly() ? simd::Scatter::kWrite : simd::Scatter::kAdd;
                    if (how == simd::Scatter::kAdd) walk.clear(team_of(args), args.out[0], type.width);
                    walk.each(team_of(args), [&](int64_t plane, int64_t at, const simd::Windows& w) {
                      simd::scatter(type.type, type.at(args.in[0], at), indices(args.in[1]) + at, w,
                                    type.at(args.out[0], plane), how);
                    });
                  }));
}

PreparedKernel max_pool_gather(const KernelRequest& r) {
  const ImageType type(r);
  const PoolingWalk walk(op_cast<MaxPoolGather>(r.node)->params().pooling, r.node.inputs[0].shape(),
                         r.node.outputs[0].shape, r.layout, r.pieces);
  return prepared(r, make_kernel([walk, type](const KernelArgs& args) {
                    walk.each(team_of(args), [&](int64_t plane, int64_t at, const simd::Windows& w) {
                      simd::gather(type.type, type.at(args.in[0], plane), indices(args.in[1]) + at, w,
                                   type.at(args.out[0], at));
                    });
                  }));
}

PreparedKernel avg_pool(const KernelRequest& r) {
  const ImageType type(r);
  const PoolingWalk walk(op_cast<AvgPool>(r.node)->params(), r.node.inputs[0].shape(),
                         r.node.outputs[0].shape, r.layout, r.pieces);
  return prepared(r, make_kernel([walk, type](const KernelArgs& args) {
                    walk.each(team_of(args), [&](int64_t plane, int64_t at, const simd::Windows& w) {
                      simd::mean_of(type.type, type.at(args.in[0], plane), w, type.at(args.out[0], at));
                    });
                  }));
}

PreparedKernel avg_pool_spread(const KernelRequest& r) {
  const ImageType type(r);
  const PoolingWalk walk(op_cast<AvgPoolSpread>(r.node)->params().pooling, r.node.outputs[0].shape,
                         r.node.inputs[0].shape(), r.layout, r.pieces);
  return prepared(r, make_kernel([walk, type](const KernelArgs& args) {
                    walk.clear(team_of(args), args.out[0], type.width);
                    walk.each(team_of(args), [&](int64_t plane, int64_t at, const simd::Windows& w) {
                      simd::spread(type.type, type.at(args.in[0], at), w, type.at(args.out[0], plane));
                    });
                  }));
}

const KernelRegistration kMaxPool("MaxPool", max_pool, LayoutRule::kAgnostic, nullptr, kWithHalf);
const KernelRegistration kMaxPoolScatter("MaxPoolScatter", max_pool_scatter, LayoutRule::kAgnostic, nullptr,
                                         kWithHalf);
const KernelRegistration kMaxPoolGather("MaxPoolGather", max_pool_gather, LayoutRule::kAgnostic, nullptr,
                                        kWithHalf);
const KernelRegistration kAvgPool("AvgPool", avg_pool, LayoutRule::kAgnostic, nullptr, kWithHalf);
const KernelRegistration kAvgPoolSpread("AvgPoolSpread", avg_pool_spread, LayoutRule::kAgnostic, nullptr,
                                        kWithHalf);

}  // namespace
}  // namespace tpack::cpu
