#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "learner/inference_model.h"
#include "support/python.h"
#include "support/temporary_folder.h"
#include "weights/import_weights.h"
#include "weights/weight_file.h"

namespace tpack {

/// Files with the weights of the network of tests/python/numpy_net.py, made once by a script.
class NetFiles : public testing::Test {
 protected:
  static void make_files(const std::string& script) {
    folder_ = std::make_unique<TemporaryFolder>();
    made_ = run_python(script, folder_->str());
    ASSERT_TRUE(made_.exit_code == 0 || !made_.missing.empty()) << made_.output;
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (!made_.missing.empty()) GTEST_SKIP() << made_.missing;
  }

  static WeightFile open(const std::string& name) { return open_weight_file(*folder_ / name); }
  static std::string error_of(const std::string& name) {
    try {
      for (const FileWeight& weight : open(name).weights) weight.read();
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }
  static Tensor expected(const std::string& name) {
    const WeightFile all = open("expected.npz");
    const FileWeight* const found = all.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? Tensor() : found->read();
  }
  /// Compares each tensor of a file with the one of the same name; returns their number.
  static size_t compare(const WeightFile& file, double bound) {
    const WeightFile all = open("expected.npz");
    for (const FileWeight& weight : file.weights) {
      const FileWeight* const found = all.find(weight.name);
      EXPECT_NE(found, nullptr) << weight.name;
      if (found == nullptr) continue;
      const Tensor want = found->read();
      const Tensor got = weight.read();
      EXPECT_EQ(weight.spec, got.spec()) << weight.name;
      EXPECT_EQ(got.spec(), want.spec()) << weight.name;
      if (got.spec() != want.spec()) continue;
      for (int64_t i = 0; i < got.elements(); ++i)
        EXPECT_NEAR(got.at(i), want.at(i), bound) << weight.name << " " << i;
    }
    return file.weights.size();
  }

  /// The largest difference of tpack's outputs with the weights of this file, from the outputs by NumPy.
  static double error_with(const std::string& file, const Naming& naming = {}, const LoadRules& rules = {}) {
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
                  "    - Conv2D: {name: dw, filters: 8, kernel: 3, groups: 8, activation: ReLU}\n"
                  "    - Conv2DTranspose: {name: up, filters: 4, kernel: 2, stride: 2, activation: ReLU}\n"
                  "    - FullyConnected: {name: fc1, units: 10, activation: ReLU}\n"
                  "    - FullyConnected: {name: fc2, units: 10}\n"
                  "predict: {data: train, outputs: [fc2]}\n");
    const std::string out = *folder_ / "imported.h5";
    std::filesystem::remove(out);
    const WeightsReport report = import_weights(
        {.file = *folder_ / file, .config = *folder_ / "net.yaml", .naming = naming, .rules = rules}, out);
    EXPECT_EQ(report.weights.loaded.size(), 13U) << report.weights.str(file);
    return max_difference(InferenceModel::load(out)->predict({{"image", expected("x")}}).at("fc2"),
                          expected("y"));
  }

  /// Opens a file that is cut at `times` / 2 places, and as many with flipped bits: each is an error, or has
  /// the shapes that it declares. Returns the number of errors of those that are cut.
  static size_t errors_of_damaged(const std::string& name, size_t times) {
    const std::string whole = content_of(*folder_ / name);
    const std::string damaged = "damaged" + std::filesystem::path(name).extension().string();
    size_t errors = 0;
    for (size_t k = 0; k < times; ++k) {
      std::string bytes = whole;
      if (k % 2 == 0)
        bytes.resize(whole.size() * k / times);
      else
        bytes[(k * 7919) % bytes.size()] ^= static_cast<char>(1U << (k % 8));
      write_content(*folder_ / damaged, bytes);
      try {
        for (const FileWeight& weight : open(damaged).weights)
          EXPECT_EQ(weight.read().shape(), weight.spec.shape);
      } catch (const CheckpointError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(damaged));
        if (k % 2 == 0) ++errors;
      }
    }
    return errors;
  }

  inline static std::unique_ptr<TemporaryFolder> folder_;
  inline static PythonResult made_;
};

}  // namespace tpack
