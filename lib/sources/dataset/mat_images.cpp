// Datasets of small images in one MAT file.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/registry.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/stored_images.h"
#include "sources/format/mat_file.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

enum class SvhnSplit : uint8_t { kTrain, kTest, kExtra };
enum class SilhouetteSplit : uint8_t { kTrain, kValidation, kTest };

}  // namespace

template <>
struct EnumNames<SvhnSplit> {
  static constexpr std::array<std::pair<const char*, SvhnSplit>, 3> kNames = {
      {{"train", SvhnSplit::kTrain}, {"test", SvhnSplit::kTest}, {"extra", SvhnSplit::kExtra}}};
};

template <>
struct EnumNames<SilhouetteSplit> {
  static constexpr std::array<std::pair<const char*, SilhouetteSplit>, 3> kNames = {
      {{"train", SilhouetteSplit::kTrain},
       {"validation", SilhouetteSplit::kValidation},
       {"test", SilhouetteSplit::kTest}}};
};

namespace {

/// The variable of this name with numbers. Errors: DataError.
const MatArray& variable_of(const MatFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.arrays, name, &MatArray::name);
  if (found == file.arrays.end()) throw DataError("has no variable '" + name + "'");
  if (found->numbers == 0) throw DataError("has '" + name + "' of " + found->str() + "; must be numbers");
  return *found;
}

/// All numbers as bytes, in the order of MATLAB, each multiplied by `scale`.
std::vector<uint8_t> bytes_of_variable(const MatArray& array, int scale = 1) {
  if (array.kind == "uint8" && scale == 1 && std::ssize(array.data) == array.numbers)
    return {array.data.begin(), array.data.end()};
  std::vector<uint8_t> bytes(static_cast<size_t>(array.numbers));
  for (int64_t i = 0; i < array.numbers; ++i) {
    const double value = array.at(i) * scale;
    if (!(value >= 0 && value <= 255))
      throw DataError("has a number in '" + array.name + "' that is out of range; must be from 0 to " +
                      std::to_string(255 / scale));
    bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
  }
  return bytes;
}

struct SvhnParams {
  SvhnSplit split = SvhnSplit::kTrain;
  std::optional<bool> shuffle = {};
  Ref<Path> dir = {};
};

/// Source: Netzer et al. 2011, "Reading Digits in Natural Images with Unsupervised Feature Learning", format
/// 2 (cropped digits). All images are kept in memory (1.6 GB for `extra`).
class SvhnDigit final : public StoredImages {
 public:
  using Params = SvhnParams;
  static Schema<Params> schema() {
    return Schema<Params>("Photographed house numbers, cropped to one digit, 32x32 in colors.")
        .example("SVHNDigit: {split: test}")
        .field("split", &Params::split, "train: 73,257 images; test: 26,032; extra: 531,131 easier ones")
        .field("shuffle", &Params::shuffle, "use a new order in each pass; default: false for test only")
        .field(
            "dir", &Params::dir,
            "folder with train_32x32.mat and the other files, or its parent folder; default: TPACK_DATASET");
  }
  explicit SvhnDigit(const Params& p)
      : StoredImages({.side = kSide,
                      .channels = 3,
                      .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                      .samples = samples_of(p.split),
                      .shuffle = p.shuffle.value_or(p.split != SvhnSplit::kTest)}),
        file_(name_of(p.split)),
        files_("SVHNDigit", p.dir) {}

 protected:
  Content load() override {
    constexpr size_t kMostMegabytes = 2048;
    const std::string path = files_.find_first({file_});
    const MappedFile mapped(path);
    try {
      const MatFile file = read_mat_file(mapped.bytes(), kMostMegabytes);
      return {images_of(variable_of(file, "X")), labels_of(variable_of(file, "y")), {path}};
    } catch (const DataError& error) {
      throw DataError(path, error.what());
    }
  }

 private:
  static constexpr int64_t kSide = 32;

  static std::string name_of(SvhnSplit split) {
    return std::string(EnumNames<SvhnSplit>::kNames.at(static_cast<size_t>(split)).first) + "_32x32.mat";
  }
  static int64_t samples_of(SvhnSplit split) {
    return std::array<int64_t, 3>{73'257, 26'032, 531'131}.at(static_cast<size_t>(split));
  }
  /// X is [row, column, channel, image], the row fastest.
  static Tensor images_of(const MatArray& x) {
    if (x.shape.size() != 4 || x.shape[0] != kSide || x.shape[1] != kSide || x.shape[2] != 3)
      throw DataError("has 'X' of " + x.str() + "; must be [32, 32, 3, images]");
    const std::vector<uint8_t> stored = bytes_of_variable(x);
    Tensor images(TensorSpec{DType::kUInt8, {x.shape[3], kSide, kSide, 3}});
    auto* out = images.data<uint8_t>();
    for (int64_t n = 0; n < x.shape[3]; ++n) {
      const uint8_t* const image = stored.data() + n * kSide * kSide * 3;
      for (int64_t row = 0; row < kSide; ++row)
        for (int64_t column = 0; column < kSide; ++column)
          for (int64_t c = 0; c < 3; ++c) *out++ = image[row + kSide * (column + kSide * c)];
    }
    return images;
  }
  /// 10 is the digit 0.
  static std::vector<int32_t> labels_of(const MatArray& y) {
    std::vector<int32_t> labels;
    for (const uint8_t label : bytes_of_variable(y)) labels.push_back(label == 10 ? 0 : label);
    return labels;
  }

  std::string file_;
  DatasetFiles files_;
};

struct SilhouetteParams {
  SilhouetteSplit split = SilhouetteSplit::kTrain;
  std::optional<bool> shuffle = {};
  Ref<Path> dir = {};
};

/// Source: Marlin et al. 2010, "Inductive Principles for Restricted Boltzmann Machine Learning". The names of
/// the classes are in the file.
class Caltech101Silhouettes final : public StoredImages {
 public:
  using Params = SilhouetteParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Outlines of the objects of Caltech 101, 28x28 black (0) and white (255), 101 classes.")
        .example("Caltech101Silhouettes: {split: test}")
        .field("split", &Params::split, "train: 4,100 images; validation: 2,264; test: 2,307")
        .field("shuffle", &Params::shuffle, "use a new order in each pass; default: true for train only")
        .field(
            "dir", &Params::dir,
            "folder with caltech101_silhouettes_28_split1.mat, or its parent folder; default: TPACK_DATASET");
  }
  explicit Caltech101Silhouettes(const Params& p)
      : StoredImages({.side = kSide,
                      .channels = 1,
                      .samples = std::array<int64_t, 3>{4'100, 2'264, 2'307}.at(static_cast<size_t>(p.split)),
                      .shuffle = p.shuffle.value_or(p.split == SilhouetteSplit::kTrain)}),
        prefix_(std::array{"train", "val", "test"}.at(static_cast<size_t>(p.split))),
        files_("Caltech101Silhouettes", p.dir) {}

 protected:
  Content load() override {
    const std::string path = files_.find_first({"caltech101_silhouettes_28_split1.mat"});
    const MappedFile mapped(path);
    try {
      const MatFile file = read_mat_file(mapped.bytes());
      std::vector<int32_t> labels;
      for (const uint8_t label : bytes_of_variable(variable_of(file, prefix_ + "_labels")))
        labels.push_back(label - 1);
      Content content{images_of(variable_of(file, prefix_ + "_data")), std::move(labels), {path}};
      set_classes(class_names(file));
      return content;
    } catch (const DataError& error) {
      throw DataError(path, error.what());
    }
  }

 private:
  static constexpr int64_t kSide = 28;
  static constexpr size_t kClasses = 101;

  /// [image, pixel], the image fastest; the pixels of an image are in the order of MATLAB, down its columns.
  static Tensor images_of(const MatArray& data) {
    constexpr int64_t kPixels = kSide * kSide;
    if (data.shape.size() != 2 || data.shape[1] != kPixels)
      throw DataError("has '" + data.name + "' of " + data.str() + "; must be [images, 784]");
    const std::vector<uint8_t> stored = bytes_of_variable(data, 255);
    const int64_t count = data.shape[0];
    Tensor images(TensorSpec{DType::kUInt8, {count, kSide, kSide, 1}});
    auto* out = images.data<uint8_t>();
    for (int64_t n = 0; n < count; ++n)
      for (int64_t row = 0; row < kSide; ++row)
        for (int64_t column = 0; column < kSide; ++column)
          *out++ = stored[static_cast<size_t>(n + count * (row + kSide * column))];
    return images;
  }
  static std::vector<std::string> class_names(const MatFile& file) {
    std::vector<std::string> names;
    const auto stored = std::ranges::find(file.arrays, "classnames", &MatArray::name);
    if (stored == file.arrays.end()) throw DataError("has no variable 'classnames'");
    for (const MatArray& name : stored->items) names.push_back(name.text);
    if (names.size() != kClasses)
      throw DataError("has 'classnames' of " + stored->str() + "; must be the names of 101 classes");
    return names;
  }

  std::string prefix_;
  DatasetFiles files_;
};

TPACK_REGISTER(Source, SvhnDigit, "SVHNDigit", "SVHN");
TPACK_REGISTER(Source, Caltech101Silhouettes, "Caltech101Silhouettes");

}  // namespace
}  // namespace tpack
