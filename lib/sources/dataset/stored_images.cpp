#include "sources/dataset/stored_images.h"

#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/count_classes.h"
#include "dataflow/file_stamp.h"

namespace tpack {

Spec StoredImages::spec() const {
  return {{"image", {DType::kUInt8, {form_.side, form_.side, form_.channels}}, true},
          {"label", {DType::kInt32, {}}, false, form_.classes}};
}

int64_t StoredImages::size() const {
  return content_.labels.empty() ? form_.samples : std::ssize(content_.labels);
}

void StoredImages::prepare() {
  remarks_.clear();
  Content content = load();
  const std::string& last = content.paths.back();
  const auto images = content.images.shape()[0];
  if (images != std::ssize(content.labels)) {
    throw DataError(last, "has " + std::to_string(content.labels.size()) + " labels for the " +
                              std::to_string(images) + " images of " + content.paths.front());
  }
  if (images == 0) throw DataError(last, "has no images");
  for (size_t i = 0; i < content.labels.size(); ++i) {
    const int32_t label = content.labels[i];
    if (label >= 0 && label < std::ssize(form_.classes)) continue;
    throw DataError(last, "label " + std::to_string(label) + " of image " + std::to_string(i) +
                              " is not a class; must be from 0 to " +
                              std::to_string(form_.classes.size() - 1));
  }
  fingerprint_.clear();
  for (const std::string& path : content.paths) fingerprint_ += file_stamp(path);
  content_ = std::move(content);
}

SourceFacts StoredImages::facts() const {
  return {.samples = size(),
          .unit = "images",
          .classes = count_classes(form_.classes, content_.labels),
          .remarks = remarks_};
}

std::optional<std::vector<int32_t>> StoredImages::class_numbers(const std::string& /*component*/) const {
  return content_.labels;
}

void StoredImages::get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const {
  const TensorSpec image{DType::kUInt8, {form_.side, form_.side, form_.channels}};
  const auto bytes = static_cast<size_t>(form_.side * form_.side * form_.channels);
  std::memcpy(out.renew(0, image).raw(), content_.images.raw() + static_cast<size_t>(index) * bytes, bytes);
  *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = content_.labels[static_cast<size_t>(index)];
}

}  // namespace tpack
