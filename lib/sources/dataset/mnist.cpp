#include <cstring>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/file_stamp.h"
#include "dataflow/source.h"
#include "dataflow/split.h"
#include "sources/dataset/dataset_files.h"
#include "sources/format/idx.h"

namespace tpack {
namespace {

struct MnistParams {
  Split split = Split::kTrain;
  std::optional<bool> shuffle = {};
  Ref<Path> dir = {};
};

Schema<MnistParams> mnist_schema(const std::string& summary) {
  return Schema<MnistParams>(summary)
      .field("split", &MnistParams::split, "train: 60,000 images; test: 10,000")
      .field("shuffle", &MnistParams::shuffle, "use a new order in each pass; default: true for train only")
      .field("dir", &MnistParams::dir, "folder with the files, or its parent folder; default: TPACK_DATASET");
}

/// Reads the four IDX files of MNIST and data sets in its format. All images are kept in memory (47 MB).
class IdxImages : public RandomAccessSource, public SourceFiles {
 public:
  IdxImages(MnistParams p, std::string name, const std::string& origin, std::vector<std::string> classes)
      : p_(std::move(p)), files_(std::move(name), p_.dir, origin), classes_(std::move(classes)) {}

  Spec spec() const override {
    return {{"image", {DType::kUInt8, {kSide, kSide, 1}}, true},
            {"label", {DType::kInt32, {}}, false, classes_}};
  }
  int64_t size() const override {
    if (!labels_.empty()) return labels_.elements();
    return p_.split == Split::kTrain ? 60000 : 10000;
  }
  bool shuffled() const override { return p_.shuffle.value_or(p_.split == Split::kTrain); }

  void prepare() override {
    const std::string prefix = p_.split == Split::kTrain ? "train" : "t10k";
    const auto paths = files_.find({prefix + "-images-idx3-ubyte", prefix + "-labels-idx1-ubyte"});
    fingerprint_ = file_stamp(paths[0]) + file_stamp(paths[1]);  // for the parts that are read
    const Tensor images = read_idx(paths[0], 3);
    const Tensor labels = read_idx(paths[1], 1);
    if (images.shape()[1] != kSide || images.shape()[2] != kSide) {
      throw DataError(paths[0], "has images of " + images.shape().drop_front().str() + "; must be [28, 28]");
    }
    if (images.shape()[0] != labels.elements()) {
      throw DataError(paths[1], "has " + std::to_string(labels.elements()) + " labels for the " +
                                    std::to_string(images.shape()[0]) + " images of " + paths[0]);
    }
    check_labels(labels, paths[1]);
    images_ = images;
    labels_ = labels;
  }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "images"};
    for (const std::string& name : classes_) facts.classes.push_back({name, 0});
    for (const uint8_t label : labels_.span<uint8_t>()) ++facts.classes[label].samples;
    return facts;
  }
  std::string fingerprint() const override { return fingerprint_; }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    constexpr size_t kBytes = kSide * kSide;
    const TensorSpec image{DType::kUInt8, {kSide, kSide, 1}};
    std::memcpy(out.renew(0, image).raw(), images_.raw() + static_cast<size_t>(index) * kBytes, kBytes);
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = static_cast<int32_t>(labels_.data<uint8_t>()[index]);
  }

 private:
  static constexpr int64_t kSide = 28;

  void check_labels(const Tensor& labels, const std::string& path) const {
    for (int64_t i = 0; i < labels.elements(); ++i) {
      const uint8_t label = labels.data<uint8_t>()[i];
      if (label < classes_.size()) continue;
      throw DataError(path, "label " + std::to_string(label) + " of image " + std::to_string(i) +
                                " is not a class; must be from 0 to " + std::to_string(classes_.size() - 1));
    }
  }

  MnistParams p_;
  DatasetFiles files_;
  std::vector<std::string> classes_;
  Tensor images_;  // [N, 28, 28]
  Tensor labels_;  // [N]
  std::string fingerprint_;
};

/// Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits". Pixels stay 0..255, unlike
/// tensorpack's.
class Mnist final : public IdxImages {
 public:
  using Params = MnistParams;
  static Schema<Params> schema() {
    return mnist_schema("Handwritten digits, 28x28 gray, ten classes.")
        .example("Mnist: {split: test, shuffle: false}");
  }
  explicit Mnist(Params p)
      : IdxImages(std::move(p), "mnist",
                  "http://yann.lecun.com/exdb/mnist/ (mirror: ossci-datasets.s3.amazonaws.com)",
                  {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {}
};

/// Source: Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST".
class FashionMnist final : public IdxImages {
 public:
  using Params = MnistParams;
  static Schema<Params> schema() {
    return mnist_schema("Images of clothes, 28x28 gray, ten classes.")
        .example("FashionMnist: {split: train}");
  }
  explicit FashionMnist(Params p)
      : IdxImages(std::move(p), "fashion-mnist", "https://github.com/zalandoresearch/fashion-mnist",
                  {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
                   "Ankle boot"}) {}
};

TPACK_REGISTER(Source, Mnist, "Mnist", "MNIST");
TPACK_REGISTER(Source, FashionMnist, "FashionMnist");

}  // namespace
}  // namespace tpack
