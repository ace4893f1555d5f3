#include <cstdio>
#include <optional>

#include "callbacks/extra_file.h"
#include "callbacks/watched_tensors.h"
#include "core/text.h"
#include "draw/png.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kImageFolder = "images";

struct DumpTensorAsImageParams {
  Ref<LayerOutput> output;
  Ref<Variable> variable;
  double scale = 255;
  double shift = 0;
  int64_t max_images = 16;
};

/// The number and size of the images of a batch.
struct ImageBatch {
  int64_t images = 0;
  int64_t channels = 1;
  int64_t height = 0;
  int64_t width = 0;
  bool channels_last = false;
};

/// For [N, H, W], [N, C, H, W] or, if the data has this order, [N, H, W, C].
std::optional<ImageBatch> image_batch(const Shape& s, bool channels_last) {
  if (s.rank() == 3) return ImageBatch{s[0], 1, s[1], s[2]};
  if (s.rank() != 4) return std::nullopt;
  const ImageBatch batch =
      channels_last ? ImageBatch{s[0], s[3], s[1], s[2], true} : ImageBatch{s[0], s[1], s[2], s[3]};
  const bool has_colors = batch.channels == 1 || batch.channels == 3 || batch.channels == 4;
  return has_colors ? std::optional(batch) : std::nullopt;
}

/// The first images as [n, H, W, C], each value times `scale` plus `shift`.
Tensor to_pictures(const Tensor& images, const ImageBatch& b, int64_t most, double scale, double shift) {
  const int64_t n = std::min(most, b.images);
  const int64_t pixels = b.height * b.width;
  Tensor pictures(DType::kFloat32, {n, b.height, b.width, b.channels});
  auto* out = pictures.data<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < b.channels; ++c) {
        const int64_t in_image = b.channels_last ? p * b.channels + c : c * pixels + p;
        *out++ = static_cast<float>(images.at(i * b.channels * pixels + in_image) * scale + shift);
      }
    }
  }
  return pictures;
}

/// Source: tensorpack callbacks/graph.py, DumpTensorAsImage (DumpParamAsImage).
class DumpTensorAsImage final : public Callback {
 public:
  using Params = DumpTensorAsImageParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Writes an output of a layer, or a variable, as images/NAME-STEP-I.png of the run "
               "folder and to TensorBoard: [N, C, H, W] with 1, 3 or 4 channels, or [N, H, W].")
        .example("DumpTensorAsImage: {output: decoder, scale: 255, max_images: 8}")
        .field("output", &Params::output,
               "a layer or input: its value for the last batch of the first tower, with the current weights")
        .field("variable", &Params::variable, "instead: a variable of the model, such as the kernels conv0/W")
        .field("scale", &Params::scale, "multiplies each value; 255 for values from 0 to 1")
        .field(
            "shift", &Params::shift,
            "added after scaling, so that values are from 0 to 255: scale 127.5 and shift 127.5 for -1 to 1")
        .field("max_images", &Params::max_images, at_least(1), "largest number of images of a batch");
  }
  explicit DumpTensorAsImage(Params p)
      : Callback({.identity = p.output.name + p.variable.name, .only_one = true}), p_(std::move(p)) {
    if (p_.output.empty() == p_.variable.empty())
      throw ConfigError("callback DumpTensorAsImage: needs either 'output' or 'variable'");
  }

  void setup(Setup& setup) override {
    TensorPatterns patterns;
    if (!p_.output.empty()) patterns.outputs = {{p_.output.name, p_.output.position}};
    if (!p_.variable.empty()) patterns.variables = {{p_.variable.name, p_.variable.position}};
    tensors_ = std::make_unique<WatchedTensors>(setup, patterns);
    const Position position = p_.output.empty() ? p_.variable.position : p_.output.position;
    if (tensors_->names().size() > 1) {
      throw ConfigError(position, "'" + rules().identity + "' matches " + join(tensors_->names(), ", ") +
                                      "; name one tensor");
    }
    channels_last_ = tensors_->layout(0) == "HWC";
    const Shape shape = tensors_->shape(0);
    if (image_batch(shape, channels_last_)) return;
    throw ConfigError(position,
                      tensors_->names()[0] + " has the shape " + shape.str() +
                          ", which is not an image: [N, C, H, W] with 1, 3 or 4 channels, or [N, H, W]");
  }
  void compile(Run& /*run*/) override { tensors_->compile(); }
  void trigger(Run& run) override {
    if (!tensors_->compute()) return;
    const Tensor value = *tensors_->value(0);  // not a gradient, so it has a value
    const auto batch = image_batch(value.shape(), channels_last_);
    const Tensor pictures = to_pictures(value, *batch, p_.max_images, p_.scale, p_.shift);
    const std::string& name = tensors_->names()[0];
    run.monitors().put_image(name, pictures);
    if (run.folder().empty()) return;
    std::string stem = name;
    for (char& c : stem) c = c == '/' ? '-' : c;
    const std::vector<PngImage> images = encode_png(pictures);
    for (size_t i = 0; i < images.size(); ++i) {
      char numbers[64];
      std::snprintf(numbers, sizeof numbers, "-%08lld-%02zu.png", static_cast<long long>(run.global_step()),
                    i);
      const std::string path = run.folder() + "/" + kImageFolder + "/" + stem + numbers;
      write_extra_file(path, [&] { write_whole_file(path, images[i].png); });
    }
  }
  void save(State& state) const override { tensors_->save(state); }
  void load(const State& state) override { tensors_->load(state); }

 private:
  Params p_;
  std::unique_ptr<WatchedTensors> tensors_;
  bool channels_last_ = false;
};

TPACK_REGISTER(Callback, DumpTensorAsImage, "DumpTensorAsImage", "DumpParamAsImage");

}  // namespace
}  // namespace tpack
