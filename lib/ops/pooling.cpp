#include "ops/pooling.h"

namespace tpack {
namespace {

void check_image(const TensorSpec& x) {
  if (x.shape.rank() != 4) throw ShapeError("pooling needs an input of 4 axes [N, C, H, W], not " + x.str());
  check_float(x, "the input of a pooling");
}

Shape pooled(const TensorSpec& x, const PoolingParams& p) {
  check_image(x);
  const Size2 out = p.as_window().output(image_of(x.shape));
  return {x.shape[0], x.shape[1], out.h, out.w};
}

Shape unpooled(const TensorSpec& dy, const PoolingGradientParams& p) {
  check_image(dy);
  return {dy.shape[0], dy.shape[1], p.image.h, p.image.w};
}

Schema<PoolingParams> pooling_schema(const char* summary) {
  return Schema<PoolingParams>(summary)
      .field("window", &PoolingParams::window, "size of the window")
      .field("stride", &PoolingParams::stride, "pixels between windows")
      .field("padding", &PoolingParams::padding, "pixels around the image, which never count");
}

}  // namespace

template <>
struct Codec<PoolingParams> {
  static FieldType type() { return FieldType::any("parameters of a pooling"); }
  static std::optional<PoolingParams> parse(const ConfigNode& node, Reader& reader) {
    return pooling_schema("").parse(node, reader.what(), reader.errors());
  }
  static ConfigNode dump(const PoolingParams& params) { return pooling_schema("").dump(params); }
};

namespace {

Schema<PoolingGradientParams> gradient_schema(const char* summary) {
  return Schema<PoolingGradientParams>(summary)
      .field("pooling", &PoolingGradientParams::pooling, "parameters of the pooling")
      .field("image", &PoolingGradientParams::image, "size of the pooled image");
}

}  // namespace

Schema<PoolingParams> MaxPool::schema() { return pooling_schema("Largest element of each window."); }
std::vector<TensorSpec> MaxPool::infer(std::span<const TensorSpec> in) const {
  if (params().window.h * params().window.w > 256) {
    throw ShapeError("a max pooling window of " + std::to_string(params().window.h * params().window.w) +
                     " elements; at most 256 are supported");
  }
  const Shape y = pooled(in[0], params());
  return {{in[0].dtype, y}, {DType::kUInt8, y}};
}
std::vector<Symbol> MaxPool::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<MaxPoolScatter>({params(), image_of(n.inputs[0].shape())}, {dy[0], n.out(1)}).out()};
}

Schema<PoolingGradientParams> MaxPoolScatter::schema() { return gradient_schema("Gradient of max pooling."); }
std::vector<TensorSpec> MaxPoolScatter::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, unpooled(in[0], params())}};
}
std::vector<Symbol> MaxPoolScatter::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<MaxPoolGather>(params(), {dy[0], n.inputs[1]}).out(), {}};
}

Schema<PoolingGradientParams> MaxPoolGather::schema() {
  return gradient_schema("Elements at the maxima of windows.");
}
std::vector<TensorSpec> MaxPoolGather::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, in[1].shape}};
}
std::vector<Symbol> MaxPoolGather::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<MaxPoolScatter>(params(), {dy[0], n.inputs[1]}).out(), {}};
}

Schema<PoolingParams> AvgPool::schema() { return pooling_schema("Mean of each window."); }
std::vector<TensorSpec> AvgPool::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, pooled(in[0], params())}};
}
std::vector<Symbol> AvgPool::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<AvgPoolSpread>({params(), image_of(n.inputs[0].shape())}, {dy[0]}).out()};
}

Schema<PoolingGradientParams> AvgPoolSpread::schema() {
  return gradient_schema("Gradient of average pooling.");
}
std::vector<TensorSpec> AvgPoolSpread::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, unpooled(in[0], params())}};
}
std::vector<Symbol> AvgPoolSpread::gradient(Builder& b, const Node& /*n*/, std::span<const Symbol> dy) const {
  return {avg_pool(b, dy[0], params().pooling)};
}

Symbol max_pool(Builder& b, Symbol x, const PoolingParams& params) {
  return b.emit<MaxPool>(params, {x}).out();
}
Symbol avg_pool(Builder& b, Symbol x, const PoolingParams& params) {
  return b.emit<AvgPool>(params, {x}).out();
}

TPACK_REGISTER(Op, MaxPool, "MaxPool");
TPACK_REGISTER(Op, MaxPoolScatter, "MaxPoolScatter");
TPACK_REGISTER(Op, MaxPoolGather, "MaxPoolGather");
TPACK_REGISTER(Op, AvgPool, "AvgPool");
TPACK_REGISTER(Op, AvgPoolSpread, "AvgPoolSpread");

}  // namespace tpack
