#include "run/data_report.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/errors.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing_cli::joined;
using testing_cli::Outcome;
using testing_cli::tpack;
using testing_cli::Words;

/// The tiny config on a folder of images.
class DataReport : public testing_cli::WithTinyConfig {
 protected:
  DataReport() {
    for (const char* name : {"ants/1.png", "ants/2.png", "bees/1.png"}) image(name);
    for (const char* name : {"bees/anim.svg", "README", "ants/.hidden"}) write(name);
  }
  std::string path(const std::string& name) const { return folder_ / ("images/" + name); }
  void image(const std::string& name) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    fs::copy_file(source_folder() + "/docs/images/rendered-digits.png", path(name));
  }
  void write(const std::string& name) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    write_content(path(name), "x");
  }
  Outcome check(std::vector<std::string> more = {}) const {
    const Words words = joined({"check", config(), "--set",
                                "data.train=[ImageFolder: {dir: " + (folder_ / "images") +
                                    ", color: gray}, AugmentImageComponent: [Resize: 4], "
                                    "BatchData: {batch_size: 1}]",
                                "--set", "callbacks=[ModelSaver]"},
                               more);
    return tpack(words);
  }
};

TEST_F(DataReport, check_says_what_is_in_the_data) {
  const Outcome outcome = exits(0, check());
  EXPECT_EQ(
      outcome.out.find("data.train: 3 images in 2 classes (ants: 2, bees: 1); ignored 2 files (.svg, no "
                       "extension)\ndata.validation: 10 samples\n\n"),
      0U)
      << outcome.out;
}

TEST_F(DataReport, check_finds_rows_that_will_stop_the_run) {
  write_content(folder_ / "rows.csv", "a,b,label\n1,2,0\n3,x,1\n5,6,1\n,8,0\n");
  write_content(folder_ / "rows.yaml", R"(
tpack: 1
data:
  train:
    flow:
      - CSV: {file: rows.csv, columns: {x: [a, b]}, labels: {label: label}}
      - BatchData: {batch_size: 1}
model:
  inputs: {x: {shape: [2]}, label: {shape: [], dtype: int32}}
  layers: [FullyConnected: {name: scores, units: 2}]
  cost: [SoftmaxCrossEntropy: {logits: scores, labels: label}]
optimizer: {SGD: {learning_rate: 0.1}}
callbacks: [ModelSaver]
)");
  const Outcome strict = exits(3, tpack({"check", folder_ / "rows.yaml"}));
  const std::string warning =
      "error: data.train: a run stops when it reads a bad sample (on_error: stop): 2 bad rows; the first "
      "one is line 3: column 'b' has 'x'";
  EXPECT_TRUE(says(strict.err, {warning, "fix the data, or set"}));
  const Outcome unread = exits(0, tpack({"check", folder_ / "rows.yaml", "--set",
                                         "data.rows=[CSV: {file: " + (folder_ / "rows.csv") +
                                             ", columns: {x: [a, b]}, labels: {label: "
                                             "{column: label, classes: ['0', '1']}}}]",
                                         "--set", "data.train.on_error=replace"}));
  EXPECT_TRUE(says(unread.err, {"warning: data.rows: a run stops"}));
  const Outcome tolerant = tpack({"check", folder_ / "rows.yaml", "--set", "data.train.on_error=replace"});
  EXPECT_EQ(tolerant.code, 0) << tolerant.err;
  EXPECT_EQ(tolerant.err.find("a run stops"), std::string::npos) << tolerant.err;
}

TEST_F(DataReport, check_tries_some_files) {
  write_content(path("bees/2.png"), content_of(path("bees/1.png")).substr(0, 400));
  const Outcome outcome = exits(3, check());
  EXPECT_TRUE(
      says(outcome.err, {"a run stops when it reads a bad sample (on_error: stop): " + path("bees/2.png"),
                         "`tpack data check` finds all of them", "fix the data, or set"}));
}

TEST_F(DataReport, check_names_what_a_folder_has_but_is_not_read) {
  image("ants/more/3.png");
  fs::create_directories(path("wasps"));
  write("flies/1.heic");
  const Outcome outcome = exits(0, check({"--set", "model.layers.fc.units=4"}));
  EXPECT_EQ(
      outcome.out.find("data.train: 3 images in 4 classes (ants: 2, bees: 1, flies: 0, wasps: 0); ignored 3 "
                       "files (.heic, .svg, no extension); not read, inside class folders: ants/more; class "
                       "folders without images: flies, wasps\n"),
      0U)
      << outcome.out;
}

TEST_F(DataReport, check_says_it_to_programs_too) {
  const Outcome outcome = exits(0, check({"--json"}));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(json.at("parameters"), 0);
  const auto& train = json.at("data").at("train").at(0);
  EXPECT_EQ(train.at("samples"), 3);
  EXPECT_EQ(train.at("unit"), "images");
  EXPECT_EQ(train.at("classes"),
            nlohmann::json::parse(R"([{"name":"ants","samples":2},{"name":"bees","samples":1}])"));
  EXPECT_EQ(train.at("remarks"), std::vector<std::string>{"ignored 2 files (.svg, no extension)"});
  EXPECT_FALSE(nlohmann::json::parse(check({"--json", "--no-data"}).out).contains("data"));
}

TEST_F(DataReport, validation_has_the_classes_of_the_training_data) {
  fs::create_directories(folder_ / "other/bees");
  fs::copy_file(path("bees/1.png"), folder_ / "other/bees/1.png");
  const std::vector<std::string> words = {
      "--set",
      "data.validation=[ImageFolder: {dir: " + (folder_ / "other") +
          ", color: gray}, AugmentImageComponent: [Resize: 4], BatchData: {batch_size: 1}]",
      "--set", "callbacks=[InferenceRunner: {data: validation}]"};
  const Outcome lacking = exits(0, check(words));
  EXPECT_TRUE(says(lacking.out, {"data.validation: 1 images in 2", "no folders for the classes"}));
  fs::create_directories(folder_ / "other/wasps");
  const Outcome other = exits(2, check(words));
  EXPECT_TRUE(says(other.err, {"'wasps', which is not a class", "rename or move the folder, or"}));
}

TEST_F(DataReport, the_layout_of_an_image_comes_from_its_source) {
  std::string text = content_of(config());
  const std::string layout = ", layout: HWC";
  text.erase(text.find(layout), layout.size());
  write_content(config(), text);
  const Outcome outcome = exits(0, check({"--json"}));
  const auto layers = nlohmann::json::parse(outcome.out).at("layers");
  EXPECT_EQ(layers.at(0).at("shape"), (std::vector<int64_t>{1, 1, 4, 4})) << "channels first";
}

TEST_F(DataReport, a_layout_against_that_of_the_source_is_rejected) {
  const Outcome outcome = exits(2, check({"--set", "model.inputs.image.layout=CHW"}));
  EXPECT_TRUE(says(outcome.err, {"'image' has layout CHW, but", "write layout: HWC"}));
}

}  // namespace
}  // namespace tpack
