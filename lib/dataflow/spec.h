#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/field.h"
#include "image/image.h"
#include "tensor/tensor.h"

namespace tpack {

/// The kind of annotation of the sample's image in a component; maps that move pixels also move it.
enum class Annotation : uint8_t {
  kNone,
  kMask,    // class numbers of the pixels, uint8 [height, width]
  kBoxes,   // float32 [boxes, 5]: left, top, right and bottom in pixels from the upper left corner, and the
            // class; -1: there is no box
  kPoints,  // float32 [points, 2]: x and y in pixels from the upper left corner; may lie outside
};

/// Pairs of points (rows of a kPoints component) or of classes (kBoxes) to swap when an image is mirrored,
/// such as left and right eyes.
using MirrorPairs = std::vector<std::pair<int64_t, int64_t>>;

/// One component of the datapoints of a flow.
struct ComponentSpec {
  std::string name;
  /// One sample's type and shape; an image is uint8 [height, width, channels]. Sizes that are known only from
  /// the data are Shape::kUnknown.
  TensorSpec tensor;
  bool is_image = false;
  /// Class names of a label; empty for everything else.
  std::vector<std::string> classes = {};
  /// The number of labels or pixels that do not count; nothing if all do.
  std::optional<int64_t> ignored = {};
  /// For an image: k16 and kFloat are float32 here. Augmentors treat 16 bits, 0 to 65535, like 8 bits, and
  /// floats as pixels of 0..255.
  Depth depth = Depth::k8;
  /// For an image: number of frames, concatenated along the channels.
  int frames = 1;
  /// How the files of an image are read.
  Background background = {};
  bool upright = true;
  Annotation annotation = Annotation::kNone;
  MirrorPairs mirror_pairs = {};
  /// Probabilities of classes, float32 [classes], instead of the class numbers that a model declares (MixUp).
  /// Training steps use the probabilities; everything else has class numbers.
  bool is_mixed_label = false;

  /// The type and shape that a model declares for it.
  TensorSpec declared() const { return is_mixed_label ? TensorSpec{DType::kInt32, {}} : tensor; }
  /// The class name of a label; the number itself if it has no name.
  std::string class_name(int64_t label) const;
};

/// A reference to a component in a config: by name or by number, from 0.
struct ComponentRef {
  std::string name = {};
  std::optional<int64_t> index = {};
  Position position = {};

  ComponentRef() = default;
  ComponentRef(const char* component) : name(component) {}  // NOLINT(google-explicit-constructor)
};

template <>
struct Codec<ComponentRef> {
  static FieldType type() { return {.base = FieldType::Base::kReference, .of = "component"}; }
  static std::optional<ComponentRef> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const ComponentRef& ref);
};

/// The components of the datapoints of a flow, in order. A value.
class Spec {
 public:
  Spec() = default;
  Spec(std::initializer_list<ComponentSpec> components) : components_(components) {}
  explicit Spec(std::vector<ComponentSpec> components) : components_(std::move(components)) {}

  size_t size() const { return components_.size(); }
  const ComponentSpec& operator[](size_t index) const { return components_[index]; }
  ComponentSpec& operator[](size_t index) { return components_[index]; }
  auto begin() const { return components_.begin(); }
  auto end() const { return components_.end(); }

  std::optional<size_t> find(const std::string& name) const;
  /// Errors: ConfigError with the existing components; `owner` ("map SelectComponent") is for messages.
  size_t index(const ComponentRef& ref, const std::string& owner) const;
  /// The same components with `count` samples on a new first axis; Shape::kUnknown if batches differ.
  Spec batched(int64_t count) const;
  /// "image uint8 [28, 28, 1], label int32 []".
  std::string str() const;

 private:
  std::vector<ComponentSpec> components_;
};

}  // namespace tpack
