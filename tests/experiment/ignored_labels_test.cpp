#include "experiment/ignored_labels.h"

#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "draw/png.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;

class IgnoredLabels : public testing::Test {
 protected:
  IgnoredLabels() {
    for (const std::string name : {"1.png", "2.png"}) {
      std::filesystem::create_directories(folder_ / "photos");
      std::filesystem::create_directories(folder_ / "masks");
      write_content(folder_ / ("photos/" + name),
                    encode_png(Tensor::zeros({DType::kUInt8, Shape{4, 4, 3}})).at(0).png);
      write_content(folder_ / ("masks/" + name),
                    encode_png(Tensor::zeros({DType::kUInt8, Shape{4, 4, 1}})).at(0).png);
    }
  }
  /// `tpack check` of a model with two classes, of which masks have 200 for what does not count.
  testing_cli::Outcome check(const std::string& costs, const std::string& metrics) const {
    write_content(folder_ / "c.yaml", R"(tpack: 1
data:
  train:
    - ImagePairs: {images: photos, masks: masks, ignore: 200}
    - AugmentImageComponent: [{Resize: 4}]
    - BatchData: {batch_size: 2}
model:
  inputs: {image: {shape: [4, 4, 3], dtype: uint8, layout: HWC}, mask: {shape: [4, 4], dtype: uint8}}
  layers:
    - Normalize: {scale: 0.01, offset: -1}
    - Conv2D: {name: logits, filters: 2, kernel: 1}
  cost: )" + costs + "\n  metrics: " + metrics +
                                          "\noptimizer: SGD\nmax_epoch: 1\ncallbacks: [ModelSaver]\n");
    return testing_cli::tpack({"check", folder_ / "c.yaml"});
  }

  const std::string all_ = "{logits: logits, labels: mask}";
  const std::string others_ = "{logits: logits, labels: mask, ignore_label: 255}";
  TemporaryFolder folder_;
};

TEST_F(IgnoredLabels, are_left_out_of_costs_and_metrics) {
  EXPECT_EQ(check("[SoftmaxCrossEntropy: " + others_ + "]", "[IoU: " + others_ + "]").code, 0);
  const testing_cli::Outcome of_cost = check("[SoftmaxCrossEntropy: " + all_ + "]", "[IoU: " + others_ + "]");
  EXPECT_EQ(of_cost.code, 2);
  EXPECT_THAT(of_cost.err, HasSubstr("c.yaml:12:10: SoftmaxCrossEntropy: 'mask' has 255 where it does not "
                                     "count, which would be treated as a class; write ignore_label: 255"));
  EXPECT_THAT(
      check("[SoftmaxCrossEntropy: " + others_ + "]", "[IoU: " + others_ + ", Accuracy: " + all_ + "]").err,
      HasSubstr("Accuracy: 'mask' has 255 where it does not count"));
}

TEST_F(IgnoredLabels, have_the_number_of_the_mask_and_not_of_its_files) {
  const std::string of_file = "{logits: logits, labels: mask, ignore_label: 200}";
  EXPECT_THAT(
      check("[SoftmaxCrossEntropy: " + others_ + ", DiceLoss: " + of_file + "]", "[IoU: " + others_ + "]")
          .err,
      HasSubstr(
          "'ignore_label' is 200, but 'mask' has 255 where it does not count; write ignore_label: 255"));
}

}  // namespace
}  // namespace tpack
