// Every tests/config/errors/NAME.yaml is a config with mistakes; NAME.txt is the whole text of the error,
// paths relative to that folder. NAME.set, where there is one, holds overrides, one a line. Files of
// errors/parts/ are included by others.
#include "experiment/check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "experiment/model_report.h"
#include "support/paths.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing_cli::kTinyConfig;

std::vector<std::string> overrides_of(fs::path path) {
  std::vector<std::string> all;
  std::ifstream file(path.replace_extension(".set"));
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

/// What is wrong with a config, "" where nothing is.
std::string errors_of(const std::string& path) {
  try {
    const CheckedExperiment checked(path, overrides_of(path), true);
  } catch (...) {
    const Failure failure = current_failure();
    EXPECT_EQ(failure.exit_code, 2) << path;
    return failure.text;
  }
  return "";
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "tests/config/errors")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ErrorCorpus : public testing::TestWithParam<std::string> {};

TEST_P(ErrorCorpus, is_refused_with_the_whole_text) {
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(source_folder()) / "tests/config/errors");
  const std::string errors = errors_of(GetParam() + ".yaml");
  const std::string expected = content_of(GetParam() + ".txt");
  fs::current_path(before);
  ASSERT_FALSE(expected.empty()) << "the text is missing; found:\n" << errors;
  EXPECT_EQ(errors + "\n", expected);
}

INSTANTIATE_TEST_SUITE_P(Files, ErrorCorpus, testing::ValuesIn(cases()),
                         [](const auto& param_info) { return param_info.param; });

TEST(Check, corpus_is_large) { EXPECT_GE(cases().size(), 80U); }

TEST(Check, works_out_the_steps_of_an_epoch) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", {}, true);
  EXPECT_EQ(checked.steps_per_epoch(), 10);
  CheckedExperiment given(folder / "tiny.yaml", {"steps_per_epoch=7"}, true);
  EXPECT_EQ(given.steps_per_epoch(), 7);
}

TEST(Check, reports_shapes_parameters_and_memory) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", {}, true);
  const ModelReport report = report_model(checked);
  EXPECT_EQ(report.parameters, 16 * 5 + 5 + 5 * 3 + 3);
  const auto fc0 = std::find_if(report.layers.begin(), report.layers.end(),
                                [](const LayerReport& layer) { return layer.name == "fc0"; });
  ASSERT_NE(fc0, report.layers.end());
  EXPECT_EQ(fc0->spec.str(), "float32 [4, 5]");
  EXPECT_EQ(fc0->parameters, 85);
  EXPECT_EQ(fc0->flops, 2.0 * 4 * 16 * 5);
  EXPECT_GT(report.memory.total(), 0U);
  EXPECT_EQ(report.to_json().at("parameters"), report.parameters);
}

/// The parts of what `check` predicts, in bytes.
std::map<std::string, uint64_t> memory_of(const std::vector<std::string>& overrides) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  CheckedExperiment checked(folder / "tiny.yaml", overrides, true);
  const MemoryReport memory = report_model(checked).memory;
  std::map<std::string, uint64_t> parts;
  for (const auto& [name, bytes] : memory.parts()) parts[name] = bytes;
  return parts;
}

TEST(Check, counts_batches_of_the_queue_and_replicas_of_the_towers) {
  constexpr uint64_t kBatch = 4 * (16 + sizeof(int32_t));
  constexpr uint64_t kVariables = sizeof(float) * (16 * 5 + 5 + 5 * 3 + 3);
  const auto one = memory_of({"input={Queue: {capacity: 7}}"});
  EXPECT_EQ(one.at("batches"), 7 * kBatch);
  EXPECT_GE(one.at("variables"), 3 * kVariables) << "Adam keeps two moments of each";
  EXPECT_GE(one.at("validation or saving"), 3 * kVariables) << "a whole checkpoint";
  const auto two =
      memory_of({"input={Queue: {capacity: 7}}", "trainer={SyncMultiGPU: {devices: [cpu:0, cpu:1]}}"});
  EXPECT_EQ(two.at("batches"), 2 * 7 * kBatch);
  EXPECT_EQ(two.at("variables"), 2 * one.at("variables"));
  EXPECT_GT(two.at("activations"), one.at("activations"));
  const auto large = memory_of({"data.validation.1.BatchData.batch_size=1000"});
  EXPECT_EQ(large.at("validation or saving"), 4U * 1000 * (16 + sizeof(int32_t)));
}

TEST(Check, without_data_takes_what_they_declare) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  const std::string absent =
      "data.train=[{Mnist: {dir: " + folder.str() + "}}, {BatchData: {batch_size: 4}}]";
  const std::vector<std::string> overrides = {absent, "model.inputs.image.shape=[28, 28, 1]",
                                              "model.layers.fc.units=10"};
  EXPECT_NO_THROW(CheckedExperiment(folder / "tiny.yaml", overrides, false));
  EXPECT_THROW(CheckedExperiment(folder / "tiny.yaml", overrides, true), DataError);
}

}  // namespace
}  // namespace tpack
