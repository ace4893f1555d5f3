#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map.h"
#include "dataflow/sample_error.h"
#include "image/augment/augmentor.h"
#include "image/frames.h"

namespace tpack {
namespace {

struct Drawn {
  const Transform* transform = nullptr;
  size_t augmentor = 0;  // its image
};
/// The drawn transforms in their smallest parts: the crop of an augmentor that crops and resizes is a step.
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

/// The part of an image that the crops at index `at` of a list keep; `at` then points after them.
Region kept_by_crops(const std::vector<Drawn>& steps, ImageSize size, size_t& at) {
  Region kept{0, 0, size.width, size.height};
  for (; at < steps.size(); ++at) {
    const auto crop = steps[at].transform->crop();
    if (!crop) break;
    kept = {kept.x + crop->x, kept.y + crop->y, crop->width, crop->height};
  }
  return kept;
}

/// The part to decode for a list of transforms: the part that the first crops keep, limited to what a
/// shrinking transform after them needs for later crops.
struct DecodePlan {
  DecodeRequest request;
  size_t done = 0;  // transforms covered by decoding and `shrinking`
  const Drawn* shrinking = nullptr;
  Box whole;    // input of `shrinking`, in pixels of the requested region
  Region part;  // of its result
};

DecodePlan plan_decode(ImageSize size, const std::vector<Drawn>& steps) {
  DecodePlan plan;
  const Region kept = kept_by_crops(steps, size, plan.done);
  plan.request.region = kept;
  const ImageSize before{kept.width, kept.height};
  if (plan.done == steps.size() || !steps[plan.done].transform->shrinks(before)) return plan;
  plan.shrinking = &steps[plan.done++];
  const ImageSize after = plan.shrinking->transform->size(before);
  plan.part = kept_by_crops(steps, after, plan.done);
  const Region needed = plan.shrinking->transform->needs(plan.part, before);
  plan.request.region = {kept.x + needed.x, kept.y + needed.y, needed.width, needed.height};
  plan.request.shrinks_by = std::min(static_cast<double>(before.width) / after.width,
                                     static_cast<double>(before.height) / after.height);
  plan.whole = {-static_cast<double>(needed.x), -static_cast<double>(needed.y),
                static_cast<double>(before.width), static_cast<double>(before.height)};
  return plan;
}

/// Converts a box from pixels of a region to pixels of the decoded image, where the region is `place`.
Box in_decoded(const Box& box, const Region& region, const Box& place) {
  const double x = place.width / region.width;
  const double y = place.height / region.height;
  return {place.x + box.x * x, place.y + box.y * y, box.width * x, box.height * y};
}

using Augmentors = std::vector<Part<Augmentor>>;

struct AugmentImageComponentParams {
  Augmentors augmentors;
  ComponentRef component = "image";
};
struct AugmentImageComponentsParams {
  Augmentors augmentors;
  std::vector<ComponentRef> components;
};

/// Applies one draw to all images of a sample, and to its masks, boxes and points.
class AugmentImages : public Map {
 public:
  /// `owner`: "map AugmentImageComponent".
  AugmentImages(Augmentors augmentors, std::vector<ComponentRef> images, std::string owner)
      : augmentors_(std::move(augmentors)), wanted_(std::move(images)), owner_(std::move(owner)) {}

  Spec bind(const Spec& in) override {
    Spec out = in;
    find_images(in);
    for (const Augmented& image : images_) out[image.component].tensor.shape = augmented_shape(in, image);
    const Shape& shape = out[images_[0].component].tensor.shape;
    for (const Attached& one : attached_)
      if (one.annotation == Annotation::kMask) out[one.component].tensor.shape = Shape{shape[0], shape[1]};
    return out;
  }

  bool apply(Datapoint& d, const SampleKey& key) const override {
    const size_t first = images_[0].component;
    const ImageSize size = size_of(d, first);
    const std::string origin = d.is_image(first) ? d.image(first).origin() : "";
    const Transforms transforms = draw(size, key, origin);
    for (const Attached& one : attached_) augment_attached(d, one, size, transforms.steps);
    for (const Augmented& image : images_) {
      const size_t index = image.component;
      if (const ImageSize own = size_of(d, index); !(own == size))
        throw DataError("images of a sample that get the same augmentations must have the same size, not " +
                        size.str() + " and " + own.str());
      if (d.is_image(index)) {
        augment_image(d.image(index), image.frames, transforms.steps);
      } else {
        augment_tensor(d, image, transforms.steps);
      }
    }
    return true;
  }

 private:
  struct Augmented {
    size_t component = 0;
    Depth depth = Depth::k8;
    int frames = 1;
  };
  /// Annotations that move with the images.
  struct Attached {
    size_t component;
    Annotation annotation;
    std::map<int64_t, int64_t> mirrored;  // the partner of a point or a class
  };

  /// The selected images (default: all), and their annotations.
  void find_images(const Spec& in) {
    const auto add = [&](size_t i) { images_.push_back({i, in[i].depth, in[i].frames}); };
    for (const ComponentRef& ref : wanted_) add(in.index(ref, owner_));
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted_.empty() && in[i].is_image) add(i);
      if (in[i].annotation == Annotation::kNone) continue;
      attached_.push_back({i, in[i].annotation, {}});
      for (const auto& [a, b] : in[i].mirror_pairs) {
        attached_.back().mirrored[a] = b;
        attached_.back().mirrored[b] = a;
      }
    }
    if (images_.empty()) throw ConfigError(owner_ + ": the samples have no image; they have " + in.str());
  }
  /// Augmentors see the channels of one frame. Errors: ConfigError if it is not an image, and errors of the
  /// augmentors.
  Shape augmented_shape(const Spec& in, const Augmented& image) const {
    const Shape stored = checked_shape(in, image);
    Shape shape = stored[2] == Shape::kUnknown ? stored : stored.with(2, stored[2] / image.frames);
    std::optional<int64_t> shorter = shorter_side_of(shape);
    for (const auto& augmentor : augmentors_) {
      try {
        shape = augmentor->shape(shape);
        shorter = augmentor->shorter_side(shorter);
      } catch (const ConfigError& error) {
        Diagnostics here;
        here.add(error, augmentor.item.position());
        here.throw_if_any();
      }
    }
    return shape[2] == Shape::kUnknown ? shape : shape.with(2, shape[2] * image.frames);
  }
  /// Errors: ConfigError if it is not an image.
  Shape checked_shape(const Spec& in, const Augmented& augmented) const {
    const ComponentSpec& image = in[augmented.component];
    const bool has_pixels = image.tensor.dtype == DType::kUInt8 || image.depth != Depth::k8;
    if (image.is_image && has_pixels && image.tensor.shape.rank() == 3) return image.tensor.shape;
    const bool is_batch = image.is_image && image.tensor.shape.rank() == 4;
    const auto k = static_cast<size_t>(&augmented - images_.data());
    throw ConfigError(k < wanted_.size() ? wanted_[k].position : Position{},
                      owner_ + ": component '" + image.name + "' is " + image.tensor.str() +
                          ", not an image; images are uint8 [height, width, channels]" +
                          (is_batch ? "; put the map before BatchData" : ""));
  }
  static ImageSize size_of(Datapoint& d, size_t index) {
    if (d.is_image(index)) return d.image(index).size();
    const Shape& shape = d.tensor(index).shape();
    return {static_cast<int>(shape[1]), static_cast<int>(shape[0])};
  }
  void augment_attached(Datapoint& d, const Attached& one, ImageSize size,
                        const std::vector<Drawn>& steps) const {
    if (steps.empty()) return;
    switch (one.annotation) {
      case Annotation::kMask:
        return augment_mask(d, one.component, size, steps);
      case Annotation::kBoxes:
        return move_boxes(d, one, size, steps);
      case Annotation::kPoints:
        return move_points(d, one, size, steps);
      case Annotation::kNone:
        return;
    }
  }
  static Point moved(Point point, ImageSize size, const std::vector<Drawn>& steps) {
    for (const Drawn& step : steps) {
      point = step.transform->point(point, size);
      size = step.transform->size(size);
    }
    return point;
  }
  /// Whether three corners of an image have the opposite orientation afterwards.
  static bool mirrors(ImageSize size, const std::vector<Drawn>& steps) {
    const Point corner = moved(Point{0, 0}, size, steps);
    const Point right = moved(Point{static_cast<double>(size.width), 0}, size, steps);
    const Point below = moved(Point{0, static_cast<double>(size.height)}, size, steps);
    return (right.x - corner.x) * (below.y - corner.y) < (right.y - corner.y) * (below.x - corner.x);
  }
  /// The source of each entry: the partner of a pair if the image is mirrored.
  static std::map<int64_t, int64_t> exchanged(const Attached& one, ImageSize size,
                                              const std::vector<Drawn>& steps) {
    const bool is_mirrored = !one.mirrored.empty() && mirrors(size, steps);
    return is_mirrored ? one.mirrored : std::map<int64_t, int64_t>{};
  }
  static int64_t in_place_of(const std::map<int64_t, int64_t>& exchanged, int64_t number) {
    const auto other = exchanged.find(number);
    return other == exchanged.end() ? number : other->second;
  }
  /// Boxes are clipped at the edges; boxes with less than a pixel left are dropped, and the others move up.
  static void move_boxes(Datapoint& d, const Attached& one, ImageSize size, const std::vector<Drawn>& steps) {
    const std::map<int64_t, int64_t> classes = exchanged(one, size, steps);
    const Tensor in = d.tensor(one.component);
    const Tensor out = d.renew(one.component, in.spec());
    constexpr int64_t kNumbers = 5;
    auto* to = out.data<float>();
    for (const auto* from = in.data<float>(); from < in.data<float>() + in.elements(); from += kNumbers) {
      if (from[4] < 0) continue;
      const double left = from[0];
      const double top = from[1];
      const Box box = moved({left, top, from[2] - left, from[3] - top}, size, steps);
      if (box.width < 1 || box.height < 1) continue;
      const std::array<double, 4> edges = {box.x, box.y, box.x + box.width, box.y + box.height};
      to = std::transform(edges.begin(), edges.end(), to,
                          [](double edge) { return static_cast<float>(edge); });
      *to++ = static_cast<float>(in_place_of(classes, static_cast<int64_t>(from[4])));
    }
    for (; to < out.data<float>() + out.elements(); to += kNumbers) {
      std::fill_n(to, 4, 0.F);
      to[4] = -1;
    }
  }
  static Box moved(Box box, ImageSize size, const std::vector<Drawn>& steps) {
    for (const Drawn& step : steps) {
      box = step.transform->box(box, size);
      size = step.transform->size(size);
      if (box.width <= 0 || box.height <= 0) break;
    }
    return box;
  }
  static void move_points(Datapoint& d, const Attached& one, ImageSize size,
                          const std::vector<Drawn>& steps) {
    const std::map<int64_t, int64_t> rows = exchanged(one, size, steps);
    const Tensor in = d.tensor(one.component);
    const Tensor out = d.renew(one.component, in.spec());
    for (int64_t row = 0; row < in.elements() / 2; ++row) {
      const float* const from = in.data<float>() + 2 * in_place_of(rows, row);
      const Point point = moved(Point{from[0], from[1]}, size, steps);
      out.data<float>()[2 * row] = static_cast<float>(point.x);
      out.data<float>()[2 * row + 1] = static_cast<float>(point.y);
    }
  }
  void augment_mask(Datapoint& d, size_t index, ImageSize size, const std::vector<Drawn>& steps) const {
    const Tensor in = d.tensor(index);
    cv::Mat pixels(static_cast<int>(in.shape()[0]), static_cast<int>(in.shape()[1]), CV_8UC1, in.raw());
    if (pixels.cols != size.width || pixels.rows != size.height)
      throw DataError("the mask has " + ImageSize{pixels.cols, pixels.rows}.str() +
                      " pixels, but its image has " + size.str());
    for (const Drawn& step : steps) {
      try {
        step.transform->mask(pixels);
      } catch (const cv::Exception& error) {
        reject(step.augmentor, "", error.err);
      }
    }
    if (pixels.data == in.data<uint8_t>() && pixels.rows == size.height && pixels.cols == size.width) return;
    const Tensor out = d.renew(index, {DType::kUInt8, Shape{pixels.rows, pixels.cols}});
    cv::Mat target(pixels.rows, pixels.cols, CV_8UC1, out.raw());
    pixels.copyTo(target);
  }
  static std::optional<int64_t> shorter_side_of(const Shape& shape) {
    if (shape[0] == Shape::kUnknown || shape[1] == Shape::kUnknown) return std::nullopt;
    return std::min(shape[0], shape[1]);
  }

  [[noreturn]] void reject(size_t augmentor, const std::string& file, const std::string& why) const {
    const ComponentItem item = component_item(augmentors_[augmentor].item, Augmentor::kKind);
    throw PartError(item.position, file, item.name + ": " + why);
  }

  std::unique_ptr<Transform> draw_one(size_t i, ImageSize size, const SampleKey& key,
                                      const std::string& file) const {
    Rng rng = key.rng(i);
    try {
      const Augmentor& augmentor = *augmentors_[i];
      return key.draws ? augmentor.draw(size, rng) : augmentor.center(size);
    } catch (const DataError& error) {
      reject(i, file, error.what());
    }
  }

  /// `shrunk`: how to apply it to a partly decoded image; null for other transforms.
  void apply_one(const Drawn& drawn, cv::Mat& pixels, int frames, const std::string& file,
                 const std::function<void(cv::Mat&)>& shrunk = nullptr) const {
    const int depth = pixels.depth();
    const auto change = [&](cv::Mat& m) {
      if (shrunk)
        shrunk(m);
      else
        drawn.transform->image(m);
    };
    try {
      if (frames == 1 || drawn.transform->takes_frames())
        change(pixels);
      else
        change_frames(pixels, pixels.channels() / frames, change);
    } catch (const cv::Exception& error) {
      reject(drawn.augmentor, file, error.err);
    }
    if (pixels.dims != 2 || pixels.empty() || pixels.depth() != depth) {
      const char* const kept = depth == CV_8U ? "8 bits" : depth == CV_16U ? "16 bits" : "float32";
      reject(drawn.augmentor, file, std::string("returned an image that is not ") + kept + " per channel");
    }
  }

  Transforms draw(ImageSize size, const SampleKey& key, const std::string& file) const {
    Transforms transforms;
    for (size_t i = 0; i < augmentors_.size(); ++i) {
      auto transform = draw_one(i, size, key, file);
      if (transform == nullptr) continue;
      size = transform->size(size);
      transforms.add(std::move(transform), i);
    }
    return transforms;
  }

  void augment_image(Image& image, int frames, const std::vector<Drawn>& steps) const {
    size_t done = 0;
    cv::Mat pixels;
    if (image.encoded()) {
      const DecodePlan plan = plan_decode(image.size(), steps);
      const Box place = image.decode(plan.request);
      pixels = image.pixels();
      done = plan.done;
      if (plan.shrinking != nullptr) {
        const Box whole = in_decoded(plan.whole, plan.request.region, place);
        apply_one(*plan.shrinking, pixels, frames, image.origin(),
                  [&](cv::Mat& m) { plan.shrinking->transform->shrink(m, whole, plan.part); });
      }
    } else {
      pixels = image.pixels();
    }
    for (; done < steps.size(); ++done) apply_one(steps[done], pixels, frames, image.origin());
    image.set_pixels(std::move(pixels));
  }

  void augment_tensor(Datapoint& d, const Augmented& image, const std::vector<Drawn>& steps) const {
    const size_t index = image.component;
    const Tensor in = d.tensor(index);
    const auto side = [&in](int axis) { return static_cast<int>(in.shape()[axis]); };
    const int depth = in.dtype() == DType::kUInt8 ? CV_8U : CV_32F;
    cv::Mat pixels(side(0), side(1), CV_MAKETYPE(depth, side(2)), in.raw());
    if (image.depth == Depth::k16) pixels.convertTo(pixels, CV_16U);
    for (const Drawn& step : steps) apply_one(step, pixels, image.frames, "");
    const bool is_same = pixels.data == reinterpret_cast<const uint8_t*>(in.raw());
    if (is_same && pixels.rows == side(0) && pixels.cols == side(1)) return;
    const Tensor out = d.renew(index, {in.dtype(), Shape{pixels.rows, pixels.cols, pixels.channels()}});
    cv::Mat target(pixels.rows, pixels.cols, CV_MAKETYPE(depth, pixels.channels()), out.raw());
    pixels.convertTo(target, depth);
  }

  Augmentors augmentors_;
  std::vector<ComponentRef> wanted_;
  std::string owner_;
  std::vector<Augmented> images_;
  std::vector<Attached> attached_;
};

constexpr const char* kAugmentorsText = "the augmentors, in order; each gets the output of the previous one";

/// Draws all transforms from the size in the header, then decodes only the needed part. Source: tensorpack
/// dataflow/image.py, AugmentImageComponent (there, `catch_exceptions=True` corresponds to the flow's
/// `on_error: skip`).
class AugmentImageComponent final : public AugmentImages {
 public:
  using Params = AugmentImageComponentParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs augmentors on an image; those that move pixels also move the masks, boxes and points of "
               "the sample. Their parameters are for pixels from 0 to 255; for images of 16 bits they are "
               "multiplied by 257, for images with depth: float they are used unchanged. All frames of an "
               "image get the same augmentation, except for noise. In predictions (`infer`), random crops "
               "become center crops, and random flips, colors and noise are off.")
        .example("AugmentImageComponent: [{RandomCrop: 24}, Flip]")
        .field("augmentors", &Params::augmentors, kAugmentorsText)
        .required()
        .shorthand()
        .field("component", &Params::component, "the image, by name or number");
  }
  explicit AugmentImageComponent(Params p)
      : AugmentImages(std::move(p.augmentors), {p.component}, "map AugmentImageComponent"),
        component_(p.component) {}

  /// Predictions never need masks or boxes alone.
  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    return needed_if_wanted(component_, std::move(wanted));
  }

 private:
  ComponentRef component_;
};

/// Same as AugmentImageComponent, with the transforms drawn for the first image. Source: tensorpack
/// dataflow/image.py, AugmentImageComponents.
class AugmentImageComponents final : public AugmentImages {
 public:
  using Params = AugmentImageComponentsParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs augmentors with the same random numbers on all images of a sample and on its masks, "
               "boxes and points, for example on an image and its target image. All must have the same size.")
        .example("AugmentImageComponents: [{RandomCrop: 24}, Flip]")
        .field("augmentors", &Params::augmentors, kAugmentorsText)
        .required()
        .shorthand()
        .field("components", &Params::components, "the images, by name or number; default: all of them");
  }
  explicit AugmentImageComponents(Params p)
      : AugmentImages(std::move(p.augmentors), std::move(p.components), "map AugmentImageComponents") {}
};

TPACK_REGISTER(Map, AugmentImageComponent, "AugmentImageComponent");
TPACK_REGISTER(Map, AugmentImageComponents, "AugmentImageComponents");

}  // namespace
}  // namespace tpack
