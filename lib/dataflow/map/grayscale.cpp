#include <cstring>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

/// Shapes: x [..., 3] uint8 or float32 -> y [..., 1] of the same type. y = 0.299 R + 0.587 G + 0.114 B
/// (ITU-R BT.601), as OpenCV rounds it.
class Grayscale final : public TensorMap {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>("Converts RGB images to gray ones with one channel; does not change gray images.");
  }
  explicit Grayscale(Params /*p*/) {}

  TensorSpec spec(const TensorSpec& in) const override {
    const int64_t channels = in.shape.rank() == 0 ? 0 : in.shape[-1];
    const bool is_number = in.dtype == DType::kUInt8 || in.dtype == DType::kFloat32;
    if (!is_number || (channels != 1 && channels != 3)) {
      throw ConfigError(
          "Grayscale needs images of 1 or 3 channels, [height, width, channels] of uint8 or "
          "float32, not " +
          in.str());
    }
    return {in.dtype, in.shape.with(static_cast<int>(in.shape.rank()) - 1, 1)};
  }
  void apply(const Tensor& in, const Tensor& out) const override {
    if (in.shape()[-1] == 1) {
      std::memcpy(out.raw(), in.raw(), in.bytes());
      return;
    }
    const int depth = in.dtype() == DType::kUInt8 ? CV_8U : CV_32F;
    const auto pixels = static_cast<int>(out.elements());
    cv::Mat gray(1, pixels, CV_MAKETYPE(depth, 1), out.raw());
    cv::cvtColor(cv::Mat(1, pixels, CV_MAKETYPE(depth, 3), in.raw()), gray, cv::COLOR_RGB2GRAY);
  }
};

TPACK_REGISTER(TensorMap, Grayscale, "Grayscale");

}  // namespace
}  // namespace tpack
