#include "sources/dataset/known_datasets.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace tpack {
namespace {

/// Images that are kept in memory. Digests: those of CIFAR are on its page; the others are those of
/// torchvision 0.20 (torchvision/datasets).
std::vector<KnownDataset> stored_datasets() {
  return {{"Mnist",
           "mnist",
           "http://yann.lecun.com/exdb/mnist/ (mirror: ossci-datasets.s3.amazonaws.com)",
           "https://ossci-datasets.s3.amazonaws.com/mnist",
           {{"train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
            {"train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"},
            {"t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"},
            {"t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"}},
           ""},
          {"FashionMnist",
           "fashion-mnist",
           "https://github.com/zalandoresearch/fashion-mnist",
           "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
           {{"train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"},
            {"train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"},
            {"t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"},
            {"t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"}},
           ""},
          {"Cifar10",
           "cifar10",
           "https://www.cs.toronto.edu/~kriz/cifar.html",
           "https://www.cs.toronto.edu/~kriz",
           {{"cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"}},
           ""},
          {"Cifar100",
           "cifar100",
           "https://www.cs.toronto.edu/~kriz/cifar.html",
           "https://www.cs.toronto.edu/~kriz",
           {{"cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"}},
           ""},
          {"SVHNDigit",
           "svhn",
           "http://ufldl.stanford.edu/housenumbers/",
           "http://ufldl.stanford.edu/housenumbers",
           {{"train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"},
            {"test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"},
            {"extra_32x32.mat", "a93ce644f1a588dc4d68dda5feec44a7"}},
           ""},
          {"Caltech101Silhouettes",
           "caltech101-silhouettes",
           "https://people.cs.umass.edu/~marlin/data.shtml",
           "https://people.cs.umass.edu/~marlin/data",
           {{"caltech101_silhouettes_28_split1.mat", ""}},
           ""}};
}

/// Images in files.
std::vector<KnownDataset> datasets_of_files() {
  constexpr std::string_view kVoc = "http://host.robots.ox.ac.uk/pascal/VOC/voc2012";
  const std::vector<DatasetDownload> voc = {
      {"VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd"}};
  return {{"TinyImageNet",
           "tiny-imagenet-200",
           "http://cs231n.stanford.edu/",
           "http://cs231n.stanford.edu",
           {{"tiny-imagenet-200.zip", ""}},
           "unzip -q tiny-imagenet-200.zip"},
          {"ILSVRC12",
           "ilsvrc12",
           "https://image-net.org/challenges/LSVRC/2012/ (after a registration)",
           "",
           {},
           ""},
          {"Places365Standard",
           "places365",
           "http://places2.csail.mit.edu/download.html (places365standard_easyformat.tar, 21 GB)",
           "http://data.csail.mit.edu/places/places365",
           {{"places365standard_easyformat.tar", ""}},
           "tar xf places365standard_easyformat.tar"},
          {"BSDS500",
           "bsds500",
           "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html",
           "http://www.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/BSR",
           {{"BSR_bsds500.tgz", ""}},
           "tar xf BSR_bsds500.tgz"},
          {"VOCSegmentation", "voc", kVoc, kVoc, voc, "tar xf VOCtrainval_11-May-2012.tar"},
          {"VOCDetection", "voc", kVoc, kVoc, voc, "tar xf VOCtrainval_11-May-2012.tar"},
          {"COCO",
           "coco",
           "https://cocodataset.org/#download",
           "http://images.cocodataset.org",
           {{"zips/train2017.zip", ""},
            {"zips/val2017.zip", ""},
            {"annotations/annotations_trainval2017.zip", ""}},
           "for f in *.zip; do unzip -q $f; done"}};
}

}  // namespace

std::span<const KnownDataset> known_datasets() {
  static const std::vector<KnownDataset> kAll = [] {
    std::vector<KnownDataset> all = stored_datasets();
    std::ranges::copy(datasets_of_files(), std::back_inserter(all));
    return all;
  }();
  return kAll;
}

const KnownDataset& known_dataset(std::string_view name) {
  const auto found = std::ranges::find(known_datasets(), name, &KnownDataset::name);
  TPACK_ASSERT(found != known_datasets().end(), "no dataset " + std::string(name));
  return *found;
}

}  // namespace tpack
