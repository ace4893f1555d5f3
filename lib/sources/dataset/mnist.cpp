#include "core/error.h"
#include "core/registry.h"
#include "dataflow/split.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/stored_images.h"
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
class IdxImages : public StoredImages {
 protected:
  IdxImages(const MnistParams& p, std::string_view name, std::vector<std::string> classes)
      : StoredImages({.side = kSide,
                      .channels = 1,
                      .classes = std::move(classes),
                      .samples = p.split == Split::kTrain ? 60000 : 10000,
                      .shuffle = p.shuffle.value_or(p.split == Split::kTrain)}),
        prefix_(p.split == Split::kTrain ? "train" : "t10k"),
        files_(name, p.dir) {}

  Content load() override {
    const auto paths = files_.find({prefix_ + "-images-idx3-ubyte", prefix_ + "-labels-idx1-ubyte"});
    const Tensor images = read_idx(paths[0], 3);
    const Tensor labels = read_idx(paths[1], 1);
    if (images.shape()[1] != kSide || images.shape()[2] != kSide) {
      throw DataError(paths[0], "has images of " + images.shape().drop_front().str() + "; must be [28, 28]");
    }
    const auto numbers = labels.span<uint8_t>();
    return {images, {numbers.begin(), numbers.end()}, paths};
  }

 private:
  static constexpr int64_t kSide = 28;

  std::string prefix_;
  DatasetFiles files_;
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
  explicit Mnist(const Params& p)
      : IdxImages(p, "Mnist", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {}
};

/// Source: Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST".
class FashionMnist final : public IdxImages {
 public:
  using Params = MnistParams;
  static Schema<Params> schema() {
    return mnist_schema("Images of clothes, 28x28 gray, ten classes.")
        .example("FashionMnist: {split: train}");
  }
  explicit FashionMnist(const Params& p)
      : IdxImages(p, "FashionMnist",
                  {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
                   "Ankle boot"}) {}
};

TPACK_REGISTER(Source, Mnist, "Mnist", "MNIST");
TPACK_REGISTER(Source, FashionMnist, "FashionMnist");

}  // namespace
}  // namespace tpack
