#include "sources/format/box_annotations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <pugixml.hpp>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "table/csv.h"
#include "table/text_file.h"

namespace tpack {
namespace {

using nlohmann::json;

/// The parts of an object that read_coco_boxes uses.
struct CocoEntry {
  std::optional<int64_t> id = {};
  std::optional<int64_t> image = {};
  std::optional<int64_t> category = {};
  std::optional<std::string> name = {};  // of a category, or of the file of an image
  double width = 0;
  double height = 0;
  double is_crowd = 0;
  std::array<double, 4> box{};
  int64_t numbers = 0;  // of the box; -1 if it has something else
};

/// An entry of `annotations`, which are most of a file.
struct CocoAnnotation {
  int64_t image = 0;
  int64_t category = 0;
  std::array<double, 4> box{};
  bool is_crowd = false;
};

/// Reads the file as a stream of events, and keeps what is used: outlines of objects are most of a file, and
/// the parts may come in any order.
class CocoReader final : public nlohmann::json_sax<json> {
 public:
  explicit CocoReader(const std::string& path) : path_(path) {}

  BoxAnnotations result() {
    for (const Part part : {Part::kCategories, Part::kImages, Part::kAnnotations}) {
      if (!found_[static_cast<size_t>(part)])
        throw DataError(path_,
                        "has no list '" + std::string(name_of(part)) +
                            "'; the COCO format is {images: [...], annotations: [...], categories: [...]}");
    }
    BoxAnnotations all;
    std::map<int64_t, int64_t> label_of;  // in the order of the ids
    for (auto& [id, name] : categories_) {
      label_of[id] = std::ssize(all.classes);
      all.classes.push_back(std::move(name));
    }
    all.images = std::move(images_);
    for (size_t i = 0; i < annotations_.size(); ++i) {
      const CocoAnnotation& of = annotations_[i];
      const auto image = image_of_.find(of.image);
      if (image == image_of_.end()) reject(Part::kAnnotations, i, "its image_id matches no image");
      const auto label = label_of.find(of.category);
      if (label == label_of.end()) reject(Part::kAnnotations, i, "its category_id matches no category");
      const auto [x, y, width, height] = of.box;
      const AnnotatedBox box{x, y, x + width, y + height, label->second};
      if (of.is_crowd)
        ++all.crowds;
      else if (box.right <= box.left || box.bottom <= box.top)
        ++all.empty;
      else
        all.images[image->second].boxes.push_back(box);
    }
    return all;
  }

  bool null() override { return other(); }
  bool boolean(bool /*value*/) override { return other(); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max());
    return number(static_cast<double>(value),
                  fits ? std::optional(static_cast<int64_t>(value)) : std::nullopt);
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return number(value, {}); }
  bool string(string_t& value) override {
    if (is_field(part_ == Part::kImages ? "file_name" : "name")) entry_.name = std::move(value);
    return other();
  }
  bool binary(binary_t& /*value*/) override { return other(); }
  bool key(string_t& name) override {
    if (depth_ == kPartDepth)
      part_ = part_named(name);
    else if (depth_ == kFieldDepth)
      field_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t /*size*/) override {
    if (depth_ != kEntryDepth) other();
    if (++depth_ == kFieldDepth && is_in_list_) {
      entry_ = {};
      field_.clear();
    }
    return true;
  }
  bool end_object() override {
    if (depth_-- == kFieldDepth && is_in_list_) add();
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    if (depth_ == kPartDepth && part_ != Part::kOther) {
      is_in_list_ = true;
      count_ = 0;
      found_[static_cast<size_t>(part_)] = true;
    }
    if (is_field("bbox")) {
      entry_.numbers = 0;
      is_in_box_ = true;
    } else {
      other();
    }
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == kPartDepth) is_in_list_ = false;
    if (depth_ == kFieldDepth) is_in_box_ = false;
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const json::exception& error) override {
    throw DataError(path_, std::string("is not JSON: ") + error.what());
  }

 private:
  enum class Part : uint8_t { kCategories, kImages, kAnnotations, kOther };
  // Numbers of brackets around: the key of a part, an entry, the key of its field, the numbers of its box.
  static constexpr int kPartDepth = 1;
  static constexpr int kEntryDepth = 2;
  static constexpr int kFieldDepth = 3;
  static constexpr int kBoxDepth = 4;

  static const char* name_of(Part part) {
    return part == Part::kCategories ? "categories" : part == Part::kImages ? "images" : "annotations";
  }
  static Part part_named(std::string_view name) {
    for (const Part part : {Part::kCategories, Part::kImages, Part::kAnnotations})
      if (name == name_of(part)) return part;
    return Part::kOther;
  }
  bool is_field(std::string_view name) const {
    return is_in_list_ && depth_ == kFieldDepth && field_ == name;
  }
  bool is_in_numbers() const { return is_in_box_ && depth_ == kBoxDepth; }
  bool number(double value, std::optional<int64_t> integer) {
    if (is_in_numbers() && entry_.numbers >= 0 && std::isfinite(value)) {
      if (entry_.numbers < 4) entry_.box[static_cast<size_t>(entry_.numbers)] = value;
      ++entry_.numbers;
      return true;
    }
    if (!is_in_list_ || depth_ != kFieldDepth) return other();
    if (field_ == "bbox") entry_.numbers = -1;
    if (field_ == "id") entry_.id = integer;
    if (field_ == "image_id") entry_.image = integer;
    if (field_ == "category_id") entry_.category = integer;
    if (field_ == "width") entry_.width = value;
    if (field_ == "height") entry_.height = value;
    if (field_ == "iscrowd") entry_.is_crowd = value;
    return true;
  }
  /// A value that no field has.
  bool other() {
    if (is_in_list_ && depth_ == kEntryDepth) reject(part_, count_, "is not an object");
    if (is_in_numbers() || is_field("bbox")) entry_.numbers = -1;
    return true;
  }
  [[noreturn]] void reject(Part part, size_t i, const std::string& why) const {
    throw DataError(path_, std::string(name_of(part)) + "[" + std::to_string(i) + "]: " + why);
  }
  template <class T>
  const T& required(const std::optional<T>& value, const char* key, const char* type) const {
    if (!value) reject(part_, count_, std::string("has no ") + type + " '" + key + "'");
    return *value;
  }
  /// The entry is complete.
  void add() {
    if (part_ == Part::kCategories) {
      const int64_t id = required(entry_.id, "id", "integer");
      if (!categories_.emplace(id, required(entry_.name, "name", "string")).second)
        reject(part_, count_, "has a duplicate id");
    } else if (part_ == Part::kImages) {
      if (!image_of_.emplace(required(entry_.id, "id", "integer"), images_.size()).second)
        reject(part_, count_, "has a duplicate id");
      images_.push_back({.file = required(entry_.name, "file_name", "string"),
                         .width = entry_.width,
                         .height = entry_.height});
    } else {
      const int64_t image = required(entry_.image, "image_id", "integer");
      const int64_t category = required(entry_.category, "category_id", "integer");
      if (entry_.numbers != 4) reject(part_, count_, "'bbox' is not [x, y, width, height]");
      annotations_.push_back({image, category, entry_.box, entry_.is_crowd != 0});
    }
    ++count_;
  }

  const std::string& path_;
  int depth_ = 0;
  Part part_ = Part::kOther;
  bool is_in_list_ = false;
  bool is_in_box_ = false;
  std::string field_;
  CocoEntry entry_;
  size_t count_ = 0;  // of entries of this list
  std::array<bool, 3> found_{};
  std::map<int64_t, std::string> categories_;
  std::map<int64_t, size_t> image_of_;  // by id; a hash of numbers may be made slow on purpose
  std::vector<AnnotatedImage> images_;
  std::vector<CocoAnnotation> annotations_;
};

bool has_area(const AnnotatedBox& box) { return box.right > box.left && box.bottom > box.top; }

}  // namespace

BoxAnnotations read_coco_boxes(std::string_view text, const std::string& path) {
  CocoReader reader(path);
  text = require_text(text, path, "COCO's JSON");
  json::sax_parse(text.begin(), text.end(), &reader);
  return reader.result();
}

int64_t ClassNumbers::of(const std::string& name) {
  const auto [at, is_new] = numbers_.emplace(name, std::ssize(names_));
  if (is_new) names_.push_back(name);
  return at->second;
}

AnnotatedImage read_voc_boxes(std::string_view text, const std::string& path, VocBoxes wanted,
                              ClassNumbers& classes) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  if (!result)
    throw DataError(path, std::string("is not XML: ") + result.description() + " at byte " +
                              std::to_string(result.offset));
  const pugi::xml_node root = document.child("annotation");
  if (!root) throw DataError(path, "has no <annotation> element, so it is not a Pascal VOC file");
  const auto side = [&root](const char* key) {
    return csv_number(trim(root.child("size").child_value(key))).value_or(0);
  };
  AnnotatedImage image{
      .file = root.child_value("filename"), .width = side("width"), .height = side("height")};
  for (const pugi::xml_node object : root.children("object")) {
    if (!wanted.difficult && std::string_view(trim(object.child_value("difficult"))) == "1") continue;
    const std::string name(trim(object.child_value("name")));
    if (name.empty()) throw DataError(path, "has an <object> without a <name>");
    const pugi::xml_node corners = object.child("bndbox");
    const auto corner = [&](const char* key) {
      const auto number = csv_number(trim(corners.child_value(key)));
      if (!number || !std::isfinite(*number))
        throw DataError(path, "the <bndbox> of '" + printable(name) + "' has no number <" + key + ">");
      return *number;
    };
    const AnnotatedBox box{corner("xmin") - 1, corner("ymin") - 1, corner("xmax"), corner("ymax")};
    if (!wanted.without_area && !has_area(box))
      throw DataError(path, "the box of '" + printable(name) + "' has no area");
    image.boxes.push_back(box);
    image.boxes.back().label = classes.of(name);
  }
  return image;
}

AnnotatedImage read_yolo_boxes(std::string_view text, const std::string& path, int64_t classes) {
  AnnotatedImage image{.file = "", .boxes = {}, .relative = true};
  text = require_text(text, path, "YOLO's text");
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    std::vector<double> values;
    while (!line.empty()) {
      const size_t space = std::min(line.find_first_of(" \t"), line.size());
      const auto value = csv_number(line.substr(0, space));
      values.push_back(value.value_or(std::nan("")));
      line = trim(line.substr(space));
    }
    const auto reject = [&](const std::string& why) {
      throw DataError(path + ":" + std::to_string(number), why);
    };
    if (values.size() != 5 ||
        !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
      reject("is not `class x y width height`");
    if (values[0] < 0 || values[0] >= static_cast<double>(classes) || values[0] != std::floor(values[0]))
      reject("class " + shortest(values[0]) + " is out of range; 'classes' has " + std::to_string(classes) +
             " names, so it must be from 0 to " + std::to_string(classes - 1));
    const AnnotatedBox box{values[1] - values[3] / 2, values[2] - values[4] / 2, values[1] + values[3] / 2,
                           values[2] + values[4] / 2, static_cast<int64_t>(values[0])};
    if (!has_area(box)) reject("the box has no area");
    if (std::max({box.right, box.bottom}) > 1.5)
      reject("the box is far outside of the image; centers and sizes are shares of its width and height");
    image.boxes.push_back(box);
  }
  return image;
}

}  // namespace tpack
