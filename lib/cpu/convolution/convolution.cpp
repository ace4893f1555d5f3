#include "ops/convolution.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "backend/plan.h"
#include "cpu/batch_pieces.h"
#include "cpu/convolution/image_pairs.h"
#include "cpu/convolution/winograd.h"
#include "cpu/convolution/winograd_pairs.h"
#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "cpu/onednn/onednn.h"
#include "cpu/onednn/primitive.h"
#include "cpu/piece_kernel.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Operand = PrimitiveKernel::Operand;

constexpr const char* kOneDnnWinograd = "winograd";  // in plans

/// oneDNN's view of a convolution: the same numbers for all three directions.
struct ConvolutionProblem {
  dnnl::algorithm algorithm;
  Desc x, w, bias, y;
  Dims stride, dilation, padding_front, padding_back;
};

/// Weights of a grouped convolution have an additional axis for the groups.
Dims weight_dims(const Shape& w, int64_t groups) {
  if (groups == 1) return {w[0], w[1], w[2], w[3]};
  return {groups, w[0] / groups, w[1], w[2], w[3]};
}

[[noreturn]] void reject(const KernelRequest& request) {
  throw PlanError(request.node.path + ": " + request.algorithm + " convolution in layout " +
                  name_of(request.layout) + " is not supported on this CPU");
}

dnnl::algorithm algorithm_of(const KernelRequest& request, const ConvolutionParams& p) {
  if (request.algorithm == kOneDnnWinograd) {
    if (!onednn_winograd_fits(p)) reject(request);
    return dnnl::algorithm::convolution_winograd;
  }
  if (request.algorithm == "direct") return dnnl::algorithm::convolution_direct;
  throw PlanError("unknown convolution algorithm '" + request.algorithm +
                  "' in the plan; known: direct, image-pairs, winograd, winograd-pairs, winograd-tiled");
}

/// Images with few channels enter a blocked convolution in their own layout: oneDNN has kernels for the first
/// layer of a network.
Format image_format(const TensorSpec& spec, Layout layout) {
  constexpr int64_t kFirstLayerChannels = 3;
  const bool first = layout == Layout::kBlocked && spec.shape[1] <= kFirstLayerChannels;
  return make_format(spec, first ? Layout::kPlain : layout);
}

/// The tensors of a convolution, whichever of them its node computes: images x, weights w, results y.
struct Tensors {
  TensorSpec x, w, y;

  /// Weights that are read have the type of the images: they are rounded when they are packed.
  Tensors with_packed_weights(DType type) const {
    Tensors all = *this;
    all.w.dtype = type;
    return all;
  }
  /// All in one type, of which kernels for the forward pass exist.
  Tensors in_type(DType type) const {
    Tensors all = *this;
    for (TensorSpec* spec : {&all.x, &all.w, &all.y}) spec->dtype = type;
    return all;
  }

  /// The same for a part of the batch.
  Tensors of_images(int64_t images) const {
    Tensors part = *this;
    part.x.shape = x.shape.with(0, images);
    part.y.shape = y.shape.with(0, images);
    return part;
  }
  int64_t images() const { return x.shape[0]; }
};

/// `weights`: their format if another piece has chosen it; otherwise oneDNN chooses.
ConvolutionProblem problem_of(const KernelRequest& request, const ConvolutionParams& p,
                              const Tensors& tensors, const std::optional<Desc>& weights) {
  return {algorithm_of(request, p),
          md_of(image_format(tensors.x, request.layout)),
          weights ? *weights
                  : Desc(weight_dims(tensors.w.shape, p.groups), type_of(tensors.w.dtype),
                         dnnl::memory::format_tag::any),
          Desc({tensors.y.shape[1]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x),
          md_of(make_format(tensors.y, request.layout)),
          {p.stride.h, p.stride.w},
          {p.dilation.h - 1, p.dilation.w - 1},
          {p.padding.top, p.padding.left},
          {p.padding.bottom, p.padding.right}};
}

/// Passes over a kernel of oneDNN that is wrong: without AVX-512, version 2.6 writes behind its scratch
/// memory in convolutions of 1x1 with a stride if the channels of a channels-last image are no multiple of 8.
template <class Pd>
Pd skip_buggy_kernels(Pd desc, const ConvolutionProblem& p) {
  constexpr int64_t kBlock = 8;
  const bool strided = p.stride != Dims{1, 1};
  if (has_avx512() || !strided || p.x.dims()[1] % kBlock == 0) return desc;
  while (std::string_view(desc.impl_info_str()).starts_with("jit_1x1")) {
    if (!desc.next_impl()) throw dnnl::error(dnnl_unimplemented, "no other kernel");
  }
  return desc;
}

using Forward = dnnl::convolution_forward;

Forward::primitive_desc forward_desc(const ConvolutionProblem& p, const Epilogue& epilogue) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (epilogue.relu) append_relu(attributes);
  const auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc desc = epilogue.bias ? Forward::desc(kind, p.algorithm, p.x, p.w, p.bias, p.y, p.stride,
                                                           p.dilation, p.padding_front, p.padding_back)
                                           : Forward::desc(kind, p.algorithm, p.x, p.w, p.y, p.stride,
                                                           p.dilation, p.padding_front, p.padding_back);
  return skip_buggy_kernels(Forward::primitive_desc(desc, attributes, engine()), p);
}

/// The forward convolution that the description of a gradient needs.
Forward::primitive_desc forward_hint(const KernelRequest& request, const ConvolutionParams& params,
                                     const Tensors& tensors) {
  const DType factor = is_half(tensors.y.dtype) ? tensors.y.dtype : tensors.x.dtype;
  return forward_desc(problem_of(request, params, tensors.in_type(factor), std::nullopt), {});
}

/// max(y, 0) after a kernel without a ReLU that keeps NaN.
class ReluEpilogue final : public Kernel {
 public:
  ReluEpilogue(std::unique_ptr<Kernel> kernel, uint64_t bytes)
      : kernel_(std::move(kernel)), elements_(bytes / sizeof(float)) {}
  void run(const KernelArgs& args) override {
    kernel_->run(args);
    constexpr float kZero = 0;
    float* y = floats_out(args.out[0]);
    simd::apply(pointwise::Fn::kMax, {y, false}, {&kZero, true}, {}, y, elements_);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  size_t elements_;
};

/// Whether tpack's own Winograd kernels compute it.
bool is_tiled(const KernelRequest& request, const ConvolutionParams& params, const Shape& weights) {
  if (request.algorithm != kTiledWinograd) return false;
  if (request.layout != Layout::kBlocked || !tiled_winograd_fits(params, weights)) reject(request);
  return true;
}

/// Whether it is computed by Winograd in pairs of bfloat16.
bool is_in_pairs(const KernelRequest& request, const ConvolutionParams& params) {
  if (request.algorithm != kPairWinograd) return false;
  if (!pair_winograd_fits(request.node, params)) reject(request);
  return true;
}

/// Prepares a convolution in pieces of its batch; `prepare` makes the kernel for some images. All pieces read
/// or write the weights in the format that the first piece chose.
template <class F>
PreparedKernel in_pieces(const KernelRequest& request, const Tensors& whole, const PerImage& per_image,
                         const F& prepare) {
  std::optional<Desc> weights;
  try {
    return cut_batch(request, whole.images(), per_image,
                     [&](int64_t images) { return prepare(whole.of_images(images), weights); });
  } catch (const dnnl::error&) {
    reject(request);
  }
}

/// A part of the results for one image, in memory without gaps.
struct PartOfImage {
  Tensors tensors;
  ConvolutionParams params;
  std::optional<Desc> weights;  // their format
  // Where it begins in each operand of the image, in bytes:
  uint64_t x = 0;
  uint64_t w = 0;
  uint64_t bias = 0;
  uint64_t y = 0;
};

/// Rows of a channels-last result. All parts have the weights in one format.
std::vector<PartOfImage> parts_of_rows(const Tensors& image, const ConvolutionParams& p, int64_t count) {
  const int64_t rows = image.y.shape[2];
  const int64_t window = (image.w.shape[2] - 1) * p.dilation.h + 1;
  const auto row_bytes = [](const TensorSpec& spec) {
    return static_cast<uint64_t>(spec.shape[1] * spec.shape[3]) * size_of(spec.dtype);
  };
  std::vector<PartOfImage> parts;
  for (int64_t number = 0; number < std::min(count, rows); ++number) {
    const int64_t begin = rows * number / std::min(count, rows);
    const int64_t end = rows * (number + 1) / std::min(count, rows);
    const int64_t first = begin * p.stride.h - p.padding.top;
    const int64_t last = (end - 1) * p.stride.h - p.padding.top + window;
    const int64_t from = std::clamp<int64_t>(first, 0, image.x.shape[2]);
    const int64_t to = std::clamp<int64_t>(last, 0, image.x.shape[2]);
    if (from >= to) return {};  // a part has nothing but padding
    PartOfImage& part = parts.emplace_back(PartOfImage{.tensors = image, .params = p, .weights = {}});
    part.tensors.x.shape = image.x.shape.with(2, to - from);
    part.tensors.y.shape = image.y.shape.with(2, end - begin);
    part.params.padding.top = from - first;
    part.params.padding.bottom = last - to;
    part.x = static_cast<uint64_t>(from) * row_bytes(image.x);
    part.y = static_cast<uint64_t>(begin) * row_bytes(image.y);
  }
  return parts;
}

/// Filters, in blocks of channels. `weights`: the format of all of them; parts of it must have no gaps.
std::vector<PartOfImage> parts_of_filters(const Tensors& image, const ConvolutionParams& p, int64_t count,
                                          const Desc& weights) {
  const int64_t filters = image.w.shape[0];
  const dnnl_blocking_desc_t& blocking = weights.data.format_desc.blocking;
  int64_t block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i)
    block *= blocking.inner_idxs[i] == 0 ? blocking.inner_blks[i] : 1;
  const bool fits = p.groups == 1 && weights.data.format_kind == dnnl_blocked &&
                    filters % kBlockChannels == 0 && kBlockChannels % block == 0 &&
                    std::all_of(blocking.strides, blocking.strides + 4,
                                [&](int64_t stride) { return stride <= blocking.strides[0]; });
  if (!fits) return {};
  const int64_t blocks = filters / kBlockChannels;
  std::vector<PartOfImage> parts;
  for (int64_t number = 0; number < std::min(count, blocks); ++number) {
    const int64_t begin = blocks * number / std::min(count, blocks) * kBlockChannels;
    const int64_t size = blocks * (number + 1) / std::min(count, blocks) * kBlockChannels - begin;
    PartOfImage& part = parts.emplace_back(PartOfImage{.tensors = image, .params = p, .weights = {}});
    part.tensors.y.shape = image.y.shape.with(1, size);
    part.tensors.w.shape = image.w.shape.with(0, size);
    const Shape& w = part.tensors.w.shape;
    part.weights = weights.submemory_desc({w[0], w[1], w[2], w[3]}, {0, 0, 0, 0});
    part.w = static_cast<uint64_t>(begin / block * blocking.strides[0]) * size_of(image.w.dtype);
    part.bias = static_cast<uint64_t>(begin) * sizeof(float);
    part.y = static_cast<uint64_t>(begin * image.y.shape[2] * image.y.shape[3]) * size_of(image.y.dtype);
  }
  return parts;
}

using PreparePart = std::function<PreparedKernel(const Tensors& tensors, const ConvolutionParams& params,
                                                 std::optional<Desc>& weights)>;

/// A convolution of fewer images than there are pieces: each image in parts. Empty if that is not possible.
std::optional<PreparedKernel> in_parts_of_images(const KernelRequest& request, const Tensors& whole,
                                                 const ConvolutionParams& params,
                                                 const PreparePart& prepare) {
  const int64_t count = request.pieces / whole.images();
  if (count < 2 || request.algorithm != "direct") return std::nullopt;
  try {
    const Tensors image = whole.of_images(1);
    std::optional<Desc> weights;
    PreparedKernel of_image = prepare(image, params, weights);
    const std::vector<PartOfImage> parts = request.layout == Layout::kBlocked
                                               ? parts_of_filters(image, params, count, *weights)
                                               : parts_of_rows(image, params, count);
    std::vector<Piece> pieces;
    for (int64_t number = 0; number < whole.images(); ++number) {
      for (const PartOfImage& part : parts) {
        // oneDNN chooses again: with a format that is not its choice, it has slow kernels.
        std::optional<Desc> format;
        PreparedKernel kernel = prepare(part.tensors, part.params, format);
        if (!part.weights && pieces.empty()) weights = format;
        if (format != (part.weights ? part.weights : weights)) return std::nullopt;
        const auto at = static_cast<uint64_t>(number);
        Piece& piece = pieces.emplace_back();
        piece.in = {at * of_image.in[0].bytes() + part.x, part.w};
        if (kernel.in.size() > 2) piece.in.push_back(part.bias);
        piece.out = {at * of_image.out[0].bytes() + part.y};
        piece.kernel = std::move(kernel.kernel);
        piece.scratch_bytes = kernel.scratch_bytes;
      }
    }
    if (parts.size() < 2) return std::nullopt;
    auto kernel = std::make_unique<PieceKernel>(std::move(pieces));
    const uint64_t scratch_bytes = kernel->scratch_bytes();
    std::vector<Format> in = of_image.in;
    in[1] = opaque(*weights);
    in[0] = make_format(request.node.inputs[0].spec(), in[0].layout);
    return PreparedKernel{std::move(kernel),
                          std::move(in),
                          {make_format(request.node.outputs[0], of_image.out[0].layout)},
                          scratch_bytes,
                          {}};
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

PreparedKernel prepare_forward(const KernelRequest& request) {
  const Node& n = request.node;
  const ConvolutionParams& params = *n.op->window();
  const Epilogue epilogue = epilogue_of(*n.op, n.inputs).value();
  if (is_tiled(request, params, n.inputs[1].shape()))
    return tiled_winograd_forward(request, params, epilogue);
  if (is_in_pairs(request, params)) return pair_winograd_forward(request, params, epilogue);
  const PerImage per_image{{true, false, false}, {true}};
  const bool relu_apart = epilogue.relu && request.algorithm == kOneDnnWinograd;
  const PreparePart prepare_part = [&](const Tensors& t, const ConvolutionParams& p,
                                       std::optional<Desc>& weights) -> PreparedKernel {
    const Forward::primitive_desc pd =
        forward_desc(problem_of(request, p, t, weights), {epilogue.bias, epilogue.relu && !relu_apart});
    weights = pd.weights_desc();
    std::vector<Operand> in = {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_WEIGHTS, *weights}};
    std::vector<Format> formats = {image_format(t.x, request.layout), opaque(*weights)};
    if (epilogue.bias) {
      in.push_back({DNNL_ARG_BIAS, pd.bias_desc()});
      formats.push_back(make_format(n.inputs[2].spec(), Layout::kPlain));
    }
    const std::vector<Operand> out = {{DNNL_ARG_DST, pd.dst_desc()}};
    std::unique_ptr<Kernel> kernel =
        std::make_unique<PrimitiveKernel>(Forward(pd), in, out, pd.scratchpad_desc());
    if (relu_apart) kernel = std::make_unique<ReluEpilogue>(std::move(kernel), pd.dst_desc().get_size());
    return {std::move(kernel),
            std::move(formats),
            {make_format(t.y, request.layout)},
            pd.scratchpad_desc().get_size(),
            {}};
  };
  const Tensors tensors =
      Tensors{n.inputs[0].spec(), n.inputs[1].spec(), n.outputs[0]}.with_packed_weights(n.inputs[0].dtype());
  if (auto parts = in_parts_of_images(request, tensors, params, prepare_part)) return std::move(*parts);
  const auto prepare = [&](const Tensors& t, std::optional<Desc>& weights) {
    return prepare_part(t, params, weights);
  };
  return in_pieces(request, tensors, per_image, prepare);
}

PreparedKernel prepare_backward_data(const KernelRequest& request) {
  using Backward = dnnl::convolution_backward_data;
  const Node& n = request.node;
  const ConvolutionParams& params = *n.op->window();
  if (is_tiled(request, params, n.inputs[1].shape())) return tiled_winograd_backward_data(request, params);
  if (is_in_pairs(request, params)) return pair_winograd_backward_data(request, params);
  const PerImage per_image{{true, false}, {true}};
  const auto prepare = [&](const Tensors& t, std::optional<Desc>& weights) -> PreparedKernel {
    const ConvolutionProblem p = problem_of(request, params, t, weights);
    const Backward::desc desc(p.algorithm, p.x, p.w, p.y, p.stride, p.dilation, p.padding_front,
                              p.padding_back);
    const auto pd = skip_buggy_kernels(
        Backward::primitive_desc(desc, user_scratchpad(), engine(), forward_hint(request, params, t)), p);
    weights = pd.weights_desc();
    const std::vector<Operand> in = {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()}, {DNNL_ARG_WEIGHTS, *weights}};
    const std::vector<Operand> out = {{DNNL_ARG_DIFF_SRC, pd.diff_src_desc()}};
    return {std::make_unique<PrimitiveKernel>(Backward(pd), in, out, pd.scratchpad_desc()),
            {make_format(t.y, request.layout), opaque(*weights)},
            {image_format(t.x, request.layout)},
            pd.scratchpad_desc().get_size(),
            {}};
  };
  const Tensors tensors{n.outputs[0], n.inputs[1].spec(), n.inputs[0].spec()};
  return in_pieces(request, tensors.with_packed_weights(tensors.y.dtype), per_image, prepare);
}

PreparedKernel prepare_backward_weights(const KernelRequest& request) {
  using Backward = dnnl::convolution_backward_weights;
  const Node& n = request.node;
  const ConvolutionParams& params = *n.op->window();
  if (is_tiled(request, params, n.outputs[0].shape)) return tiled_winograd_backward_weights(request, params);
  if (request.algorithm == kImagePairs) {
    if (!image_pairs_fit(n, params)) reject(request);
    return image_pairs_backward_weights(request, params);
  }
  const PerImage per_image{{true, true}, {false}};
  const auto prepare = [&](const Tensors& t, std::optional<Desc>& weights) -> PreparedKernel {
    const ConvolutionProblem p = problem_of(request, params, t, weights);
    const Backward::desc desc(p.algorithm, p.x, p.w, p.y, p.stride, p.dilation, p.padding_front,
                              p.padding_back);
    const auto pd = skip_buggy_kernels(
        Backward::primitive_desc(desc, user_scratchpad(), engine(), forward_hint(request, params, t)), p);
    weights = pd.diff_weights_desc();
    const std::vector<Operand> in = {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()}};
    const std::vector<Operand> out = {{DNNL_ARG_DIFF_WEIGHTS, *weights}};
    return {std::make_unique<PrimitiveKernel>(Backward(pd), in, out, pd.scratchpad_desc()),
            {image_format(t.x, request.layout), make_format(t.y, request.layout)},
            {opaque(*weights)},
            pd.scratchpad_desc().get_size(),
            {}};
  };
  return in_pieces(request, {n.inputs[0].spec(), n.outputs[0], n.inputs[1].spec()}, per_image, prepare);
}

const KernelRegistration kConvolution("Convolution", prepare_forward, LayoutRule::kChosen, nullptr,
                                      kWithHalf);
const KernelRegistration kFusedConvolution("FusedConvolution", prepare_forward, LayoutRule::kChosen, nullptr,
                                           kWithHalf);
const KernelRegistration kBackwardData("ConvolutionBackwardData", prepare_backward_data, LayoutRule::kChosen,
                                       nullptr, kWithHalf);
const KernelRegistration kFusedBackwardData("FusedConvolutionBackwardData", prepare_backward_data,
                                            LayoutRule::kChosen, nullptr, kWithHalf);
const KernelRegistration kBackwardWeights("ConvolutionBackwardWeights", prepare_backward_weights,
                                          LayoutRule::kChosen, nullptr, kWithHalf);

}  // namespace
}  // namespace tpack::cpu
