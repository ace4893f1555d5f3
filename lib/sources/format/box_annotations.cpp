#include "sources/format/box_annotations.h"

#include <algorithm>
#include <array>
#include <cmath>
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

/// Keeps only the parts that read_coco_boxes uses: outlines of objects are most of a file.
bool keeps(int depth, json::parse_event_t event, json& parsed) {
  static constexpr std::array<std::string_view, 11> kUsed = {
      "images",      "annotations", "categories", "id",    "file_name", "image_id",
      "category_id", "bbox",        "iscrowd",    "width", "height"};
  if (event != json::parse_event_t::key || depth > 3) return true;
  const auto& name = parsed.get_ref<const std::string&>();
  return name == "name" || std::find(kUsed.begin(), kUsed.end(), name) != kUsed.end();
}

/// A part of the file that is a list of objects.
class Entries {
 public:
  Entries(const json& root, const std::string& path, const char* name) : path_(path), name_(name) {
    const auto found = root.find(name);
    if (found == root.end() || !found->is_array())
      throw DataError(path,
                      "has no list '" + std::string(name) +
                          "'; the COCO format is {images: [...], annotations: [...], categories: [...]}");
    list_ = &*found;
  }
  size_t size() const { return list_->size(); }
  int64_t integer(size_t i, const char* key) const {
    const json& value = at(i, key);
    if (!value.is_number_integer()) reject(i, std::string("'") + key + "' is not an integer");
    return value.get<int64_t>();
  }
  std::string text(size_t i, const char* key) const {
    const json& value = at(i, key);
    if (!value.is_string()) reject(i, std::string("'") + key + "' is not a string");
    return value.get<std::string>();
  }
  /// 0 without a number.
  double number(size_t i, const char* key) const {
    const json& entry = (*list_)[i];
    return entry.is_object() && entry.contains(key) && entry[key].is_number() ? entry[key].get<double>() : 0;
  }
  std::array<double, 4> box(size_t i) const {
    const json& value = at(i, "bbox");
    std::array<double, 4> numbers{};
    bool is_good = value.is_array() && value.size() == numbers.size();
    for (size_t k = 0; is_good && k < numbers.size(); ++k) {
      is_good = value[k].is_number() && std::isfinite(value[k].get<double>());
      if (is_good) numbers[k] = value[k].get<double>();
    }
    if (!is_good) reject(i, "'bbox' is not [x, y, width, height]");
    return numbers;
  }
  [[noreturn]] void reject(size_t i, const std::string& why) const {
    throw DataError(path_, std::string(name_) + "[" + std::to_string(i) + "]: " + why);
  }

 private:
  const json& at(size_t i, const char* key) const {
    const json& entry = (*list_)[i];
    if (!entry.is_object() || !entry.contains(key)) reject(i, std::string("has no '") + key + "'");
    return entry[key];
  }

  const std::string& path_;
  const char* name_;
  const json* list_ = nullptr;
};

/// Number in the list of `keys` by value, in the order of the list.
std::map<int64_t, size_t> by_id(const Entries& entries) {
  std::map<int64_t, size_t> all;
  for (size_t i = 0; i < entries.size(); ++i)
    if (!all.emplace(entries.integer(i, "id"), i).second) entries.reject(i, "has a duplicate id");
  return all;
}

bool has_area(const AnnotatedBox& box) { return box.right > box.left && box.bottom > box.top; }

}  // namespace

BoxAnnotations read_coco_boxes(std::string_view text, const std::string& path) {
  json root;
  text = require_text(text, path, "COCO's JSON");
  try {
    root = json::parse(text.begin(), text.end(), keeps);
  } catch (const json::exception& error) {
    throw DataError(path, std::string("is not JSON: ") + error.what());
  }
  BoxAnnotations all;
  const Entries categories(root, path, "categories");
  std::map<int64_t, int64_t> number_of;  // class by id
  for (const auto& [id, i] : by_id(categories)) {
    number_of[id] = std::ssize(all.classes);
    all.classes.push_back(categories.text(i, "name"));
  }
  const Entries images(root, path, "images");
  const std::map<int64_t, size_t> image_of = by_id(images);
  for (size_t i = 0; i < images.size(); ++i)
    all.images.push_back({.file = images.text(i, "file_name"),
                          .width = images.number(i, "width"),
                          .height = images.number(i, "height")});
  const Entries annotations(root, path, "annotations");
  for (size_t i = 0; i < annotations.size(); ++i) {
    const auto image = image_of.find(annotations.integer(i, "image_id"));
    if (image == image_of.end()) annotations.reject(i, "its image_id matches no image");
    const auto label = number_of.find(annotations.integer(i, "category_id"));
    if (label == number_of.end()) annotations.reject(i, "its category_id matches no category");
    const auto [x, y, width, height] = annotations.box(i);
    const AnnotatedBox box{x, y, x + width, y + height, label->second};
    if (annotations.number(i, "iscrowd") != 0)
      ++all.crowds;
    else if (!has_area(box))
      ++all.empty;
    else
      all.images[image->second].boxes.push_back(box);
  }
  return all;
}

AnnotatedImage read_voc_boxes(std::string_view text, const std::string& path, bool difficult,
                              std::vector<std::string>& classes) {
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
    if (!difficult && std::string_view(trim(object.child_value("difficult"))) == "1") continue;
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
    if (!has_area(box)) throw DataError(path, "the box of '" + printable(name) + "' has no area");
    const auto known = std::find(classes.begin(), classes.end(), name);
    image.boxes.push_back(box);
    image.boxes.back().label = known - classes.begin();
    if (known == classes.end()) classes.push_back(name);
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
