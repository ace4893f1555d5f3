#include "dataflow/map/batch_mix.h"

#include <algorithm>
#include <cmath>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "image/frames.h"

namespace tpack {
namespace {

/// A draw from Gamma(shape, 1). Source: Marsaglia and Tsang 2000, "A Simple Method for Generating Gamma
/// Variables".
double gamma(double shape, Rng& rng) {
  if (shape < 1) return gamma(shape + 1, rng) * std::pow(1 - rng.uniform64(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const auto x = static_cast<double>(rng.normal());
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - rng.uniform64()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

/// A sample of a batch of images [N, H, W, C] or masks [N, H, W], as pixels.
cv::Mat pixels_of(const Tensor& batch, int64_t sample) {
  const Shape& shape = batch.shape();
  const int channels = shape.rank() == 4 ? static_cast<int>(shape[3]) : 1;
  const int depth = batch.dtype() == DType::kUInt8 ? CV_8U : CV_32F;
  const auto bytes = static_cast<int64_t>(batch.bytes()) / std::max<int64_t>(shape[0], 1);
  return {static_cast<int>(shape[1]), static_cast<int>(shape[2]), CV_MAKETYPE(depth, channels),
          batch.raw() + sample * bytes};
}

/// Weights are rounded to 65,536 parts; labels use the same weights.
constexpr uint32_t kParts = 1U << 16;

void blend_bytes(const uint8_t* a, const uint8_t* b, uint32_t part_of_a, std::span<uint8_t> out) {
  const uint32_t part_of_b = kParts - part_of_a;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<uint8_t>((a[i] * part_of_a + b[i] * part_of_b + kParts / 2) >> 16);
}

}  // namespace

int64_t BatchMix::other_sample(int64_t row, int64_t samples, Rng& rng) {
  if (samples < 2) return row;
  return (row + 1 + rng.below(static_cast<uint32_t>(samples - 1))) % samples;
}

double BatchMix::beta(double alpha, Rng& rng) {
  const double a = gamma(alpha, rng);
  const double b = gamma(alpha, rng);
  // Both are 0 if alpha is so small that the result is 0 or 1.
  const double share = a + b > 0 ? a / (a + b) : std::round(rng.uniform64());
  return std::round(share * kParts) / kParts;
}

std::optional<std::vector<std::string>> BatchMix::narrow(std::vector<std::string> wanted) {
  return needed_if_wanted(common_.label.value_or("label"), std::move(wanted));
}

Spec BatchMix::bind(const Spec& in) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].is_image && in[i].tensor.shape.rank() == 4) images_.push_back(i);
    if (in[i].annotation == Annotation::kMask) masks_.push_back(i);
    if (in[i].annotation == Annotation::kBoxes || in[i].annotation == Annotation::kPoints)
      throw ConfigError(owner_ + " cannot mix the boxes or points '" + in[i].name +
                        "'; remove the map, or drop this component with SelectComponent before it");
  }
  if (images_.empty())
    throw ConfigError(owner_ + " mixes the images of batches; the flow has " + in.str() +
                      "; put it after BatchData");
  for (const size_t i : images_) {
    const Shape& shape = in[i].tensor.shape;
    const Shape& first = in[images_[0]].tensor.shape;
    if (shape[1] != first[1] || shape[2] != first[2])
      throw ConfigError(owner_ + ": the images '" + in[images_[0]].name + "' and '" + in[i].name +
                        "' have different sizes, " + first.str() + " and " + shape.str());
  }
  if (!masks_.empty() && !pastes())
    throw ConfigError(owner_ + " would blend the class numbers of the mask '" + in[masks_[0]].name +
                      "'; CutMix and Mosaic move masks with their images");
  label_ = common_.label ? std::optional(in.index(*common_.label, owner_)) : in.find("label");
  Spec out = in;
  if (!label_) {
    if (common_.classes || masks_.empty())
      throw ConfigError(owner_ + " has no labels to mix: the flow has " + in.str() + "; set 'label'");
    return out;
  }
  ComponentSpec& label = out[*label_];
  if (is_float(label.tensor.dtype)) {
    if (common_.classes)
      throw ConfigError(owner_ + ": 'classes' applies only to class numbers, but '" + label.name + "' is " +
                        label.tensor.str() + "; remove it");
    return out;
  }
  if (label.tensor.shape.rank() != 1)
    throw ConfigError(owner_ + ": each sample needs one class number, but '" + label.name + "' is " +
                      label.tensor.str());
  classes_ = common_.classes.value_or(std::ssize(label.classes));
  if (classes_ == 0)
    throw UnknownClasses(owner_ + ": the classes of '" + label.name +
                         "' have no names, so the number of classes is unknown; set 'classes'");
  label.tensor = {DType::kFloat32, Shape{label.tensor.shape[0], classes_}};
  label.is_mixed_label = true;
  return out;
}

bool BatchMix::apply(Datapoint& d, const SampleKey& key) const {
  const Shape shape = d.tensor(images_[0]).shape();
  const cv::Size size(static_cast<int>(shape[2]), static_cast<int>(shape[1]));
  const cv::Rect whole({}, size);
  Rng rng = key.rng();
  const bool mixes = key.draws && rng.uniform64() < common_.prob;
  Parts parts(static_cast<size_t>(shape[0]));
  for (int64_t row = 0; row < shape[0]; ++row) {
    std::vector<MixPart>& own = parts[static_cast<size_t>(row)];
    own = mixes ? draw(row, shape[0], size, rng) : std::vector<MixPart>{{row, 1, whole, whole}};
  }
  if (label_) mix_labels(d, parts);
  if (!mixes) return true;
  for (const size_t i : images_) pastes() ? paste(d, i, parts) : blend(d, i, parts);
  for (const size_t i : masks_) paste(d, i, parts);
  return true;
}

void BatchMix::mix_labels(Datapoint& d, const Parts& parts) const {
  const Tensor in = d.tensor(*label_);
  const int64_t samples = in.shape()[0];
  const int64_t width = classes_ > 0 ? classes_ : in.elements() / std::max<int64_t>(samples, 1);
  const TensorSpec spec = classes_ > 0 ? TensorSpec{DType::kFloat32, Shape{samples, classes_}} : in.spec();
  const Tensor out = d.renew(*label_, spec);
  const auto class_of = [&](int64_t sample) {
    const auto label = static_cast<int64_t>(in.at(sample));
    if (label < 0 || label >= classes_)
      throw DataError(owner_ + ": class " + std::to_string(label) + " is out of range; must be from 0 to " +
                      std::to_string(classes_ - 1));
    return label;
  };
  visit(spec.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> row(static_cast<size_t>(width));
    for (int64_t i = 0; i < samples; ++i) {
      std::fill(row.begin(), row.end(), 0);
      for (const MixPart& part : parts[static_cast<size_t>(i)]) {
        if (classes_ > 0) row[static_cast<size_t>(class_of(part.sample))] += part.weight;
        for (int64_t k = 0; classes_ == 0 && k < width; ++k)
          row[static_cast<size_t>(k)] += part.weight * in.at(part.sample * width + k);
      }
      std::transform(row.begin(), row.end(), out.data<T>() + i * width,
                     [](double value) { return static_cast<T>(value); });
    }
  });
}

void BatchMix::blend(Datapoint& d, size_t index, const Parts& parts) const {
  const Tensor in = d.tensor(index);
  const Tensor out = d.renew(index, in.spec());
  const int64_t samples = in.shape()[0];
  const auto size = static_cast<size_t>(in.elements() / std::max<int64_t>(samples, 1));
  for (size_t i = 0; i < parts.size(); ++i) {
    const MixPart& a = parts[i].front();
    const MixPart& b = parts[i].back();
    const auto pixels = [size](const auto* all, auto sample) {
      return all + static_cast<size_t>(sample) * size;
    };
    if (in.dtype() == DType::kUInt8) {
      blend_bytes(pixels(in.data<uint8_t>(), a.sample), pixels(in.data<uint8_t>(), b.sample),
                  static_cast<uint32_t>(std::lround(a.weight * kParts)),
                  {out.data<uint8_t>() + i * size, size});
    } else {
      const auto weight = static_cast<float>(a.weight);
      std::transform(pixels(in.data<float>(), a.sample), pixels(in.data<float>(), a.sample) + size,
                     pixels(in.data<float>(), b.sample), out.data<float>() + i * size,
                     [weight](float x, float y) { return weight * x + (1 - weight) * y; });
    }
  }
}

/// OpenCV averages at most 4 channels.
void resize_into(const cv::Mat& from, cv::Mat& to, int interpolation) {
  const auto resize = [&](cv::Mat& m) {
    cv::Mat out;
    cv::resize(m, out, to.size(), 0, 0, interpolation);
    m = out;
  };
  cv::Mat pixels = from;
  if (pixels.channels() <= 4)
    resize(pixels);
  else
    change_frames(pixels, 1, resize);
  pixels.copyTo(to);
}

void BatchMix::paste(Datapoint& d, size_t index, const Parts& parts) const {
  const Tensor in = d.tensor(index);
  const Tensor out = d.renew(index, in.spec());
  const bool is_mask = in.shape().rank() == 3;
  for (size_t i = 0; i < parts.size(); ++i) {
    cv::Mat target = pixels_of(out, static_cast<int64_t>(i));
    for (const MixPart& part : parts[i]) {
      const cv::Mat from = pixels_of(in, part.sample)(part.from);
      cv::Mat to = target(part.to);
      if (part.from.size() == part.to.size())
        from.copyTo(to);
      else
        resize_into(from, to, is_mask ? cv::INTER_NEAREST : cv::INTER_AREA);
    }
  }
}

}  // namespace tpack
