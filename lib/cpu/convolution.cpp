#include "ops/convolution.h"

#include <optional>
#include <string_view>

#include "backend/plan.h"
#include "cpu/batch_pieces.h"
#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "cpu/onednn.h"
#include "cpu/primitive.h"
#include "cpu/simd.h"
#include "cpu/winograd.h"

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
                  "' in the plan; known: direct, winograd, winograd-tiled");
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

PreparedKernel prepare_forward(const KernelRequest& request) {
  const Node& n = request.node;
  const ConvolutionParams& params = *n.op->window();
  const Epilogue epilogue = epilogue_of(*n.op, n.inputs).value();
  if (is_tiled(request, params, n.inputs[1].shape()))
    return tiled_winograd_forward(request, params, epilogue);
  const PerImage per_image{{true, false, false}, {true}};
  const bool relu_apart = epilogue.relu && request.algorithm == kOneDnnWinograd;
  const auto prepare = [&](const Tensors& t, std::optional<Desc>& weights) -> PreparedKernel {
    const Forward::primitive_desc pd =
        forward_desc(problem_of(request, params, t, weights), {epilogue.bias, epilogue.relu && !relu_apart});
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
  const Tensors tensors{n.inputs[0].spec(), n.inputs[1].spec(), n.outputs[0]};
  return in_pieces(request, tensors.with_packed_weights(tensors.x.dtype), per_image, prepare);
}

PreparedKernel prepare_backward_data(const KernelRequest& request) {
  using Backward = dnnl::convolution_backward_data;
  const Node& n = request.node;
  const ConvolutionParams& params = *n.op->window();
  if (is_tiled(request, params, n.inputs[1].shape())) return tiled_winograd_backward_data(request, params);
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
