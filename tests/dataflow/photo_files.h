#pragma once

#include <string>
#include <vector>

#include "core/text.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"

namespace tpack {

/// The encoded photograph of a test dataset with a number: 4 pixels wide, 6 + number high.
inline Bytes photo_number(size_t number) { return encode_png(photo(4, 6 + static_cast<int>(number))); }

inline void write_photos(const TempFolder& folder, const Texts& names) {
  for (size_t i = 0; i < names.size(); ++i) folder.write(names[i], photo_number(i));
}

/// "HEIGHT CLASS" of each sample.
inline Texts photos_of(const DataFlow& flow) {
  flow.prepare();
  Texts all;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    const auto label = static_cast<int64_t>(d.tensor(1).at(0));
    all.push_back(std::to_string(d.to_tensor(0).shape()[0]) + " " + flow.spec()[1].class_name(label));
  }
  return all;
}

inline std::string val_flow(const std::string& source) {
  return "[" + source + ": {split: val, dir: ., shuffle: false}]";
}

/// A file of Pascal VOC with these boxes, "XMIN YMIN XMAX YMAX" each.
inline std::string box_xml(int width, int height, const Texts& boxes) {
  std::string text = "<annotation><size><width>" + std::to_string(width) + "</width><height>" +
                     std::to_string(height) + "</height></size>";
  for (const std::string& box : boxes) {
    text += "<object><name>n01</name><bndbox>";
    const std::vector<std::string> edges = split(box, ' ');
    for (size_t i = 0; const char* edge : {"xmin", "ymin", "xmax", "ymax"})
      text += std::string("<") + edge + ">" + edges.at(i++) + "</" + edge + ">";
    text += "</bndbox></object>";
  }
  return text + "</annotation>";
}

}  // namespace tpack
