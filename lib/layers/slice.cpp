#include <optional>

#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/pad.h"

namespace tpack {
namespace {

struct SliceLayerParams {
  int64_t axis = 1;
  int64_t begin = 0;
  std::optional<int64_t> end;
};

/// Shapes: x [..., n, ...] -> y [..., end - begin, ...].
class SliceLayer final : public Layer {
 public:
  using Params = SliceLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("A part of its input: a range of an axis.")
        .example("Slice: {axis: 1, begin: 0, end: 2}")
        .field("axis", &Params::axis, "0 is the batch, 1 the channels, -1 the last one")
        .field("begin", &Params::begin, "first index, from 0; negative ones count from the end")
        .field("end", &Params::end,
               "index after the last one; negative ones count from the end; default: the end");
  }
  explicit SliceLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    const int axis = axis_of(b, p_.axis, x);
    const int64_t size = x.shape()[axis];
    const auto place = [&](int64_t given) { return given < 0 ? given + size : given; };
    const int64_t begin = place(p_.begin);
    const int64_t end = p_.end ? place(*p_.end) : size;
    if (begin < 0 || end > size || begin >= end)
      throw ShapeError(b.origin(), b.path() + ": axis " + std::to_string(p_.axis) + " of the input " +
                                       x.spec().str() + " has no range from " + std::to_string(p_.begin) +
                                       " to " + (p_.end ? std::to_string(*p_.end) : "the end"));
    std::vector<int64_t> begins(x.shape().rank(), 0);
    begins[static_cast<size_t>(axis)] = begin;
    return slice(b, x, std::move(begins), x.shape().with(axis, end - begin));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, SliceLayer, "Slice");

}  // namespace
}  // namespace tpack
