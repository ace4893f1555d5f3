#include <algorithm>
#include <vector>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/augment/augmentor.h"
#include "dataflow/map.h"
#include "dataflow/sample_error.h"

namespace tpack {
namespace {

struct Drawn {
  const Transform* transform = nullptr;
  size_t augmentor = 0;  // that it is of
};
/// What was drawn, as its smallest parts: the crop of an augmentor that crops and resizes is a step.
struct Transforms {
  std::vector<std::unique_ptr<Transform>> drawn;
  std::vector<Drawn> steps;

  void add(std::unique_ptr<Transform> transform, size_t augmentor) {
    add_steps(*transform, augmentor);
    drawn.push_back(std::move(transform));
  }

 private:
  void add_steps(const Transform& transform, size_t augmentor) {
    if (transform.parts().empty()) steps.push_back({&transform, augmentor});
    for (const auto& part : transform.parts()) add_steps(*part, augmentor);
  }
};

/// What must be decoded for a list of transforms, and how many of the transforms that already covers.
struct DecodePlan {
  DecodeRequest request;
  size_t done = 0;
};

DecodePlan plan_decode(ImageSize size, const std::vector<Drawn>& steps) {
  DecodePlan plan{{.region = {0, 0, size.width, size.height}}};
  Region& region = plan.request.region;
  for (; plan.done < steps.size(); ++plan.done) {
    const auto crop = steps[plan.done].transform->crop();
    if (!crop) break;
    region = {region.x + crop->x, region.y + crop->y, crop->width, crop->height};
  }
  const ImageSize kept{region.width, region.height};
  if (plan.done < steps.size() && steps[plan.done].transform->shrinks(kept))
    plan.request.shrinks_to = steps[plan.done].transform->size(kept);
  return plan;
}

struct AugmentImageComponentParams {
  std::vector<Part<Augmentor>> augmentors;
  ComponentRef component = "image";
};

/// Draws all transforms from the size in the header, then decodes only what they need. Source: tensorpack
/// dataflow/image.py, AugmentImageComponent (there, `catch_exceptions=True` corresponds to the flow's
/// `on_error: skip`).
class AugmentImageComponent final : public Map {
 public:
  using Params = AugmentImageComponentParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs augmentors on an image. Their numbers are for pixels of 0..255; those of 16 bits "
               "get 257 times as much. In predictions (`infer`), those that draw do not: random crops are "
               "center crops, and random flips, colors and noise are off.")
        .example("AugmentImageComponent: [{RandomCrop: 24}, Flip]")
        .field("augmentors", &Params::augmentors,
               "the augmentors, in order; each gets the output of the one before")
        .required()
        .shorthand()
        .field("component", &Params::component, "the image, by name or number");
  }
  explicit AugmentImageComponent(Params p) : p_(std::move(p)) {}

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    return needed_if_wanted(p_.component, std::move(wanted));
  }
  Spec bind(const Spec& in) override {
    index_ = in.index(p_.component, "map AugmentImageComponent");
    const ComponentSpec& image = in[index_];
    const bool has_pixels = image.tensor.dtype == DType::kUInt8 || image.is_16_bit;
    if (!image.is_image || !has_pixels || image.tensor.shape.rank() != 3) {
      const bool is_batch = image.is_image && image.tensor.shape.rank() == 4;
      throw ConfigError(p_.component.position,
                        "map AugmentImageComponent: component '" + image.name + "' is " + image.tensor.str() +
                            ", not an image; images are uint8 [height, width, channels]" +
                            (is_batch ? "; put the map before BatchData" : ""));
    }
    Spec out = in;
    Shape& shape = out[index_].tensor.shape;
    std::optional<int64_t> shorter = shorter_side_of(shape);
    for (const auto& augmentor : p_.augmentors) {
      try {
        shape = augmentor->shape(shape);
        shorter = augmentor->shorter_side(shorter);
      } catch (const ConfigError& error) {
        Diagnostics here;
        here.add(error, augmentor.item.position());
        here.throw_if_any();
      }
    }
    return out;
  }

  bool apply(Datapoint& d, const SampleKey& key) const override {
    if (d.is_image(index_)) {
      augment_image(d.image(index_), key);
    } else {
      augment_tensor(d, key);
    }
    return true;
  }

 private:
  static std::optional<int64_t> shorter_side_of(const Shape& shape) {
    if (shape[0] == Shape::kUnknown || shape[1] == Shape::kUnknown) return std::nullopt;
    return std::min(shape[0], shape[1]);
  }

  [[noreturn]] void reject(size_t augmentor, const std::string& file, const std::string& why) const {
    const ComponentItem item = component_item(p_.augmentors[augmentor].item, Augmentor::kKind);
    throw PartError(item.position, file, item.name + ": " + why);
  }

  std::unique_ptr<Transform> draw_one(size_t i, ImageSize size, const SampleKey& key,
                                      const std::string& file) const {
    Rng rng = key.rng(i);
    try {
      const Augmentor& augmentor = *p_.augmentors[i];
      return key.draws ? augmentor.draw(size, rng) : augmentor.center(size);
    } catch (const DataError& error) {
      reject(i, file, error.what());
    }
  }

  /// `part`: what a reduced image is to be shrunk from; null for other transforms.
  void apply_one(const Drawn& drawn, cv::Mat& pixels, const std::string& file,
                 const Box* part = nullptr) const {
    const int depth = pixels.depth();
    try {
      if (part == nullptr) {
        drawn.transform->image(pixels);
      } else {
        drawn.transform->shrink(pixels, *part);
      }
    } catch (const cv::Exception& error) {
      reject(drawn.augmentor, file, error.err);
    }
    if (pixels.dims != 2 || pixels.empty() || pixels.depth() != depth) {
      const char* const bits = depth == CV_8U ? "8" : "16";
      reject(drawn.augmentor, file, std::string("gave an image that is not ") + bits + " bits per channel");
    }
  }

  Transforms draw(ImageSize size, const SampleKey& key, const std::string& file) const {
    Transforms transforms;
    for (size_t i = 0; i < p_.augmentors.size(); ++i) {
      auto transform = draw_one(i, size, key, file);
      if (transform == nullptr) continue;
      size = transform->size(size);
      transforms.add(std::move(transform), i);
    }
    return transforms;
  }

  void augment_image(Image& image, const SampleKey& key) const {
    const Transforms transforms = draw(image.size(), key, image.origin());
    const std::vector<Drawn>& steps = transforms.steps;
    size_t done = 0;
    cv::Mat pixels;
    if (image.encoded()) {
      const DecodePlan plan = plan_decode(image.size(), steps);
      const Box part = image.decode(plan.request);
      pixels = image.pixels();
      done = plan.done;
      if (plan.request.shrinks_to.width > 0) apply_one(steps[done++], pixels, image.origin(), &part);
    } else {
      pixels = image.pixels();
    }
    for (; done < steps.size(); ++done) apply_one(steps[done], pixels, image.origin());
    image.set_pixels(std::move(pixels));
  }

  void augment_tensor(Datapoint& d, const SampleKey& key) const {
    const Tensor in = d.tensor(index_);
    const auto side = [&in](int axis) { return static_cast<int>(in.shape()[axis]); };
    cv::Mat pixels(side(0), side(1), CV_8UC(side(2)), in.raw());
    const Transforms transforms = draw({side(1), side(0)}, key, "");
    for (const Drawn& step : transforms.steps) apply_one(step, pixels, "");
    if (pixels.data == in.data<uint8_t>() && pixels.rows == side(0) && pixels.cols == side(1)) return;
    const Tensor out = d.renew(index_, {DType::kUInt8, Shape{pixels.rows, pixels.cols, pixels.channels()}});
    cv::Mat target(pixels.rows, pixels.cols, pixels.type(), out.raw());
    pixels.copyTo(target);
  }

  Params p_;
  size_t index_ = 0;
};

TPACK_REGISTER(Map, AugmentImageComponent, "AugmentImageComponent");

}  // namespace
}  // namespace tpack
