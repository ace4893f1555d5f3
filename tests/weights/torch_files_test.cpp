#include <gmock/gmock-matchers.h>

#include "learner/inference_model.h"
#include "support/python.h"
#include "support/temporary_folder.h"
#include "weights/import_weights.h"
#include "weights/prove.h"
#include "weights/weight_file.h"
#include "weights/write_weights.h"

namespace tpack {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

/// Files of PyTorch, made once.
class TorchFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string python = torch_python();
    if (python.empty()) return;
    folder_ = std::make_unique<TemporaryFolder>();
    const PythonResult made = run_python("python/write_torch_files.py", folder_->str(), python);
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (folder_ == nullptr) GTEST_SKIP() << kNoTorch;
  }

  static WeightFile open(const std::string& name) { return open_weight_file(*folder_ / name); }
  static Tensor expected(const std::string& name) {
    static const WeightFile all = open("expected.npz");
    const FileWeight* const found = all.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? Tensor() : found->read();
  }
  /// Compares each tensor of a file with the one of the same name, after these prefixes.
  static size_t compare(const WeightFile& file, const std::string& prefix, const std::string& theirs,
                        double bound) {
    size_t compared = 0;
    for (const FileWeight& weight : file.weights) {
      if (!weight.name.starts_with(prefix)) continue;
      const Tensor want = expected(theirs + weight.name.substr(prefix.size())).cast(DType::kFloat64);
      const Tensor got = weight.read().cast(DType::kFloat64);
      EXPECT_EQ(weight.spec.shape, want.shape()) << weight.name;
      if (got.shape() != want.shape()) continue;
      for (int64_t i = 0; i < got.elements(); ++i)
        EXPECT_NEAR(got.at(i), want.at(i), bound * std::max(1.0, std::abs(want.at(i))))
            << weight.name << " " << i;
      ++compared;
    }
    return compared;
  }
  /// The outputs of tpack for the input of the script, with the weights of this file.
  static Tensor output_with(const std::string& file, const Naming& naming = {},
                            WeightsReport* report = nullptr) {
    write_content(*folder_ / "net.yaml",
                  "tpack: 1\nengine: {threads: 1, algorithm: heuristic}\n"
                  "data: {train: [{FakeData: {shapes: [[3, 4, 4]], dtype: [float32], names: [image], size: "
                  "4}}, BatchData: 2]}\n"
                  "model:\n"
                  "  inputs: {image: {shape: [3, 4, 4], layout: CHW}}\n"
                  "  layers:\n"
                  "    - Conv2D: {name: conv1, filters: 8, kernel: 3, use_bias: false}\n"
                  "    - BatchNorm: {name: bn1}\n"
                  "    - ReLU\n"
                  "    - Conv2D: {name: body0, filters: 6, kernel: 3, groups: 2, activation: ReLU}\n"
                  "    - Conv2DTranspose: {name: up, filters: 4, kernel: 2, stride: 2, activation: ReLU}\n"
                  "    - FullyConnected: {name: fc1, units: 10, activation: ReLU}\n"
                  "    - FullyConnected: {name: fc2, units: 10}\n"
                  "predict: {data: train, outputs: [fc2]}\n");
    const std::string out = *folder_ / (file + ".h5");
    std::filesystem::remove(out);
    const WeightsReport done = import_weights({.file = *folder_ / file,
                                               .config = *folder_ / "net.yaml",
                                               .naming = naming,
                                               .rules = {.rename = {{"body/0", "body0"}}}},
                                              out);
    if (report != nullptr) *report = done;
    return InferenceModel::load(out)->predict({{"image", expected("x")}}).at("fc2");
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> TorchFiles::folder_;

constexpr size_t kTensors = 14;  // of the network, with a counter

TEST_F(TorchFiles, state_dicts_have_their_values) {
  for (const char* const name : {"zip.pth", "stream.pth"}) {
    const WeightFile file = open(name);
    EXPECT_TRUE(file.is_in_order);
    EXPECT_EQ(compare(file, "", "", 0), kTensors) << name;
    EXPECT_EQ(file.weights[0].name, "conv1.weight");
    EXPECT_EQ(file.weights[0].stored, "float32");
  }
}

TEST_F(TorchFiles, types_of_16_bits_become_float32) {
  EXPECT_EQ(compare(open("half.pth"), "", "", 1e-3), kTensors);
  EXPECT_EQ(compare(open("bfloat16.pth"), "", "", 1e-2), kTensors - 1);
  EXPECT_EQ(open("bfloat16.pth").weights[0].stored, "bfloat16");
}

TEST_F(TorchFiles, views_of_other_tensors_have_their_own_elements) {
  for (const char* const name : {"views.pth", "views-stream.pth"})
    EXPECT_EQ(compare(open(name), "", "views.", 0), 9U) << name;
}

TEST_F(TorchFiles, nested_values_are_found_and_others_listed) {
  for (const char* const name : {"nested.pth", "nested-stream.pth"}) {
    const WeightFile file = open(name);
    EXPECT_EQ(compare(file, "state_dict.module.", "", 0), kTensors) << name;
    EXPECT_NE(file.find("optimizer.state.0.exp_avg"), nullptr);
    EXPECT_THAT(file.others, Contains(Pair("epoch", "the integer 3")));
    EXPECT_THAT(file.others, Contains(Pair("args", "an object of argparse.Namespace")));
  }
}

TEST_F(TorchFiles, whole_modules_are_read_without_their_classes) {
  EXPECT_EQ(compare(open("module.pth"), "", "", 0), kTensors);
  EXPECT_THAT(open("module.pth").others, Contains(Pair("", "an object of __main__.Net")));
  EXPECT_EQ(compare(open("script.pt"), "", "", 0), kTensors);
}

TEST_F(TorchFiles, a_model_with_their_weights_has_their_outputs) {
  for (const char* const name :
       {"zip.pth", "stream.pth", "nested.pth", "module.pth", "script.pt", "tensorpack.npz"}) {
    WeightsReport report;
    EXPECT_LT(max_difference(output_with(name, {}, &report), expected("y")), 1e-5) << name;
    EXPECT_EQ(report.map, "names");
    EXPECT_EQ(report.weights.loaded.size(), 13U) << report.weights.str(name);
    EXPECT_TRUE(report.weights.missing.empty() && report.weights.mismatched.empty());
  }
}

TEST_F(TorchFiles, order_and_shape_give_the_same) {
  EXPECT_LT(max_difference(output_with("zip.pth", {.map = "order"}), expected("y")), 1e-5);
}

TEST_F(TorchFiles, layers_are_compared_with_those_of_the_owner) {
  output_with("zip.pth");
  const auto compare_layers = [&](const std::string& reference) {
    return prove(*folder_ / "zip.pth.h5", *folder_ / reference, [](const std::string& name) { return name; });
  };
  for (const char* const same : {"layers.npz", "channels-last.npz"}) {
    const Proof proof = compare_layers(same);
    EXPECT_EQ(proof.first_difference(), nullptr) << proof.str();
    ASSERT_EQ(proof.layers.size(), 3U);
    EXPECT_EQ(proof.layers[0].layer, "conv1");
    EXPECT_EQ(proof.layers[2].layer, "fc2");
  }
  EXPECT_THAT(compare_layers("layers.npz").unknown, testing::ElementsAre("stem_body"));
  const Proof other = compare_layers("other-layers.npz");
  ASSERT_NE(other.first_difference(), nullptr);
  EXPECT_EQ(other.first_difference()->layer, "bn1");
  EXPECT_NEAR(other.first_difference()->error, 0.0099, 0.0001);
  EXPECT_THAT(other.str(), HasSubstr("'bn1' is the first that differs"));
  EXPECT_THROW(compare_layers("expected.npz"), ConfigError) << "it has no layer";
}

TEST_F(TorchFiles, converted_files_have_the_same_tensors) {
  for (const std::string name : {"copy.safetensors", "copy.npz"}) {
    write_weights(open("views.pth"), *folder_ / name);
    EXPECT_EQ(compare(open(name), "", "views.", 0), 9U) << name;
    EXPECT_THROW(write_weights(open("views.pth"), *folder_ / name), ConfigError) << "it exists";
  }
  EXPECT_THAT([&] { write_weights(open("zip.pth"), *folder_ / "copy.h5"); },
              ThrowsMessage<ConfigError>(HasSubstr("`tpack ckpt import` writes one for a model")));
}

TEST_F(TorchFiles, converted_files_load_as_the_first) {
  for (const std::string name : {"again.safetensors", "again.npz"}) {
    write_weights(open("zip.pth"), *folder_ / name);
    EXPECT_EQ(open(name).style, WeightStyle::kTorch);
    EXPECT_LT(max_difference(output_with(name), expected("y")), 1e-5) << name;
    EXPECT_LT(max_difference(output_with(name, {.map = "order"}), expected("y")), 1e-5) << name;
    EXPECT_EQ(mark_of(open(name)), "torch-in-order");
  }
}

TEST_F(TorchFiles, a_damaged_file_is_an_error_or_has_the_same_shapes) {
  for (const char* const name : {"nested.pth", "nested-stream.pth", "copy.safetensors"}) {
    if (!std::filesystem::exists(*folder_ / name)) write_weights(open("views.pth"), *folder_ / name);
    const std::string whole = content_of(*folder_ / name);
    size_t errors = 0;
    for (size_t k = 0; k < 200; ++k) {
      std::string bytes = whole;
      if (k % 2 == 0)
        bytes.resize(whole.size() * k / 200);
      else
        bytes[(k * 7919) % bytes.size()] ^= static_cast<char>(1U << (k % 8));
      write_content(*folder_ / "damaged", bytes);
      try {
        for (const FileWeight& weight : open("damaged").weights)
          EXPECT_EQ(weight.read().shape(), weight.spec.shape);
      } catch (const CheckpointError& error) {
        EXPECT_THAT(error.what(), HasSubstr("damaged"));
        ++errors;
      }
    }
    EXPECT_GE(errors, 100U) << name << ": each file that is cut is an error";
  }
}

}  // namespace
}  // namespace tpack
