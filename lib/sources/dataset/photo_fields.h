#pragma once

#include <array>
#include <concepts>
#include <string>
#include <utility>

#include "core/field.h"
#include "core/schema.h"
#include "sources/image_file.h"

// Fields of datasets of photographs.
namespace tpack {

enum class PhotoSplit : uint8_t { kTrain, kVal };

template <>
struct EnumNames<PhotoSplit> {
  static constexpr std::array<std::pair<const char*, PhotoSplit>, 2> kNames = {
      {{"train", PhotoSplit::kTrain}, {"val", PhotoSplit::kVal}}};
};

struct PhotoFields : ImageFileFields {
  PhotoSplit split = PhotoSplit::kTrain;
  Ref<Path> dir;
};

/// `train_and_val`: the number of images of the splits.
template <std::derived_from<PhotoFields> P>
Schema<P> photo_schema(const std::string& summary, const std::string& name, const char* train_and_val) {
  return with_image_files(Schema<P>(summary)
                              .example(name + ": {split: val, shuffle: false}")
                              .field("split", static_cast<PhotoSplit P::*>(&P::split), train_and_val)
                              .field("dir", static_cast<Ref<Path> P::*>(&P::dir),
                                     "folder of the dataset, or its parent folder; default: TPACK_DATASET"));
}

}  // namespace tpack
