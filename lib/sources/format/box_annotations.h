#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tpack {

/// Edges in pixels from the upper left corner of the image, or, `relative`, in shares of its width and
/// height.
struct AnnotatedBox {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  int64_t label = 0;  // number of its class
};

struct AnnotatedImage {
  std::string file;  // as the annotations name it; "" if they do not
  std::vector<AnnotatedBox> boxes = {};
  bool relative = false;
  double width = 0;  // from the annotations; 0: none
  double height = 0;
};

/// Annotations of a whole set. `path`, below: the file of the text, for messages. Unused annotations are
/// counted.
struct BoxAnnotations {
  std::vector<std::string> classes;
  std::vector<AnnotatedImage> images;
  int64_t crowds = 0;  // skipped boxes around groups (iscrowd)
  int64_t empty = 0;   // skipped boxes without area
};

/// COCO's JSON: images, annotations with bbox [x, y, width, height], categories, whose order is that of their
/// ids. Source: cocodataset.org, "Data format". Errors: DataError with the path and the entry.
BoxAnnotations read_coco_boxes(std::string_view text, const std::string& path);

/// Numbers for the names of classes, in the order in which they come.
class ClassNumbers {
 public:
  int64_t of(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> numbers_;
};

/// Which boxes read_voc_boxes returns.
struct VocBoxes {
  bool difficult = false;     // also those that are marked as difficult
  bool without_area = false;  // also those without area; false: they are errors
};

/// One file of Pascal VOC. Its corners are pixels counted from 1, both included; source: Everingham et al.
/// 2010, "The PASCAL Visual Object Classes (VOC) Challenge", development kit. `classes`: new names
/// are added. Errors: DataError.
AnnotatedImage read_voc_boxes(std::string_view text, const std::string& path, VocBoxes wanted,
                              ClassNumbers& classes);

/// One YOLO text file: a line `class x y width height` for each box, center and size in shares of the image.
/// Errors: DataError with the line, also for a class that is not below `classes`.
AnnotatedImage read_yolo_boxes(std::string_view text, const std::string& path, int64_t classes);

}  // namespace tpack
