#include "ops/one_hot.h"

namespace tpack {

Schema<OneHotParams> OneHot::schema() {
  return Schema<OneHotParams>("1 at the index of the label, 0 elsewhere.")
      .field("classes", &OneHotParams::classes, at_least(1), "number of classes")
      .field("dtype", &OneHotParams::dtype, "type of the result");
}

std::vector<TensorSpec> OneHot::infer(std::span<const TensorSpec> in) const {
  if (in[0].dtype != DType::kInt32 || in[0].shape.rank() != 1) {
    throw ShapeError("labels must be int32 [N], not " + in[0].str());
  }
  return {{params().dtype, Shape{in[0].shape[0], params().classes}}};
}

Symbol one_hot(Builder& b, Symbol labels, int64_t classes) {
  return b.emit<OneHot>({classes, b.float_type()}, {labels}).out();
}

TPACK_REGISTER(Op, OneHot, "OneHot");

}  // namespace tpack
