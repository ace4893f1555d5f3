// Each row of the table of other tools' words (core/other_words.h): a config that has the word gets the
// advice, and a config that follows the advice is accepted.
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "checkpoint/checkpoint.h"
#include "core/other_words.h"
#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "draw/png.h"
#include "experiment/check.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using Sections = std::map<std::string, std::string>;

/// Takes a section out of those that are left.
std::string taken(Sections& sections, const std::string& name, const std::string& otherwise) {
  const auto section = sections.extract(name);
  return section.empty() ? otherwise : section.mapped();
}

std::string before(const std::string& items, const char* separator) {
  return items.empty() ? "" : items + separator;
}

/// A config with these sections. `maps`, `layers` and `ends` are parts of the flow and of the layers.
std::string config_with(Sections sections) {
  const std::string maps = before(taken(sections, "maps", ""), ", ");
  std::string ends = taken(sections, "ends", "");
  if (!ends.empty()) ends = ", " + ends;
  std::string text =
      "tpack: 1\ndata:\n  train: " +
      taken(sections, "train", "[RenderedDigits: {size: 8}, " + maps + "BatchData: {batch_size: 4}]");
  text += "\n  validation: " + taken(sections, "validation",
                                     "[RenderedDigits: {split: test, size: 8}, BatchData: {batch_size: 4}]");
  text += "\nmodel:\n  inputs: " + taken(sections, "inputs",
                                         "{image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, "
                                         "label: {shape: [], dtype: int32}}");
  text += "\n  layers: [Normalize, " + before(taken(sections, "layers", ""), ", ") +
          "FullyConnected: {name: logits, units: 10}, FullyConnected: {name: value, units: 1}, "
          "Reshape: {name: prediction, shape: []}" +
          ends + "]";
  text += "\n  cost: " + taken(sections, "cost", "[SoftmaxCrossEntropy: {logits: logits, labels: label}]");
  text += "\n  metrics: " + taken(sections, "metrics", "[]");
  text += "\n  " + taken(sections, "modelextra", "feed: {}");
  text += "\noptimizer: " + taken(sections, "optimizer", "Adam");
  text += "\nmax_epoch: " + taken(sections, "max_epoch", "5") + "\n";
  for (const auto& [name, value] : sections) text += name + ": " + value + "\n";
  return text;
}

Sections sections_of(std::string_view example) {
  Sections all;
  for (const std::string& line : split(example, '\n')) {
    const size_t colon = line.find(": ");
    all[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return all;
}

/// Where a component of a kind stands in a config.
const std::map<std::string, std::pair<std::string, std::string>> kSections = {
    {"optimizer", {"optimizer", "{ITEM}"}},
    {"cost", {"cost", "[ITEM]"}},
    {"metric", {"metrics", "[ITEM]"}},
    {"layer", {"layers", "ITEM"}},
    {"callback", {"callbacks", "[ITEM]"}},
    {"monitor", {"monitors", "[ITEM]"}},
    {"trainer", {"trainer", "{ITEM}"}},
    {"source", {"train", "[ITEM]"}},
    {"stage", {"maps", "ITEM"}},
    {"map", {"maps", "ITEM"}},
    {"augmentor", {"maps", "AugmentImageComponent: [ITEM]"}},
};

/// A component for the places "any KIND", of which no other row is.
const std::map<std::string, std::string> kAnyOf = {{"optimizer", "Momentum"},
                                                   {"cost", "Regularize"},
                                                   {"layer", "ReLU"},
                                                   {"callback", "HyperParamSummary"},
                                                   {"source", "FakeData"}};

/// {A: 1, B: 1} as a block of lines.
std::string in_lines(const std::string& keys, const char* end) {
  std::string text;
  for (const std::string& one : split(keys.substr(1, keys.size() - 2), ','))
    text += (text.empty() ? "" : end) + std::string(trim(one));
  return text;
}

/// A config with these keys, {KEY: 1}, at the place.
std::string config_with_keys(const std::string& place, const std::string& keys) {
  if (place == "the config") return config_with({}) + in_lines(keys, "\n") + "\n";
  if (place == "model") return config_with({{"modelextra", in_lines(keys, "\n  ")}});
  if (place == "the flow") return config_with({{"train", "{flow: [RenderedDigits], " + keys.substr(1)}});
  if (place == "any input") return config_with({{"inputs", "{image: {shape: [4], " + keys.substr(1) + "}"}});
  const size_t space = place.rfind(' ');
  const bool is_any = place.starts_with("any ");
  const std::string kind = is_any ? place.substr(4) : place.substr(0, space);
  const auto& [section, pattern] = kSections.at(kind);
  std::string value = pattern;
  value.replace(value.find("ITEM"), 4, (is_any ? kAnyOf.at(kind) : place.substr(space + 1)) + ": " + keys);
  return config_with({{section, value}});
}

/// What is wrong with a config, "" if nothing is.
std::string errors_of_text(const std::string& text) {
  write_content("config.yaml", text);
  try {
    const CheckedExperiment checked("config.yaml", {}, true);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_for_keys(const std::string& place) {
  return place.starts_with("the ") || place.starts_with("any ") || place == "model" ||
         (place.find(' ') != std::string::npos && place != "component of a flow" && place != "tensor map" &&
          place != "gradient processor" && place != "input source");
}

/// What is said of a component that is unknown.
std::string errors_of_component(const std::string& kind, const std::string& name) {
  try {
    if (kind == "component of a flow") {
      make_flow(ConfigNode::list({ConfigNode(name)}), {});
    } else {
      ComponentTable::of(kind).at(name, {});
    }
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// In a folder with the files that the examples name.
class OtherWordsList : public testing::Test {
 protected:
  OtherWordsList() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.str());
    write_content("model.h5", "");  // it is read when the run begins
    write_content("table.csv", "a,b,y\n1,2,no\n3,4,yes\n5,6,no\n");
    write_content("photos.txt", "photos/a/1.png a\nphotos/b/1.png b\n");
    write_content("photos.csv", "photo,kind\nphotos/a/1.png,a\nphotos/b/1.png,b\n");
    write_content("numbers.svm", "-1 1:1 3:2\n1 2:3\n1 1:4\n");
    CheckpointContent arrays;
    arrays.tensors["numbers"] = Tensor::zeros({DType::kFloat32, {4, 2}});
    save_checkpoint("numbers.h5", arrays);
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }";
    header.resize(117, ' ');
    write_content("numbers.npy",
                  std::string("\x93NUMPY\x01\0v\0", 10) + header + "\n" + std::string(32, '\0'));
    for (const std::string folder : {"photos/a", "photos/b"}) {
      std::filesystem::create_directories(folder);
      write_content(folder + "/1.png", encode_png(Tensor(TensorSpec{DType::kUInt8, {32, 32, 3}})).at(0).png);
    }
  }
  ~OtherWordsList() override { std::filesystem::current_path(before_); }

 private:
  TemporaryFolder folder_;
  std::filesystem::path before_;
};

TEST_F(OtherWordsList, is_heard_at_its_places) {
  for (const OtherWords& row : other_words()) {
    const std::vector<std::string> words = split(row.words, ' ');
    for (const std::string& place : split(row.places, '|')) {
      std::string errors;
      if (is_for_keys(place)) {
        errors = errors_of_text(config_with_keys(place, "{" + join(words, ": 1, ") + ": 1}"));
      } else {
        for (const std::string& word : words) errors += errors_of_component(place, word) + "\n";
      }
      for (const std::string& word : words) {
        const size_t at = errors.find("'" + word + "'");
        const std::string line = at == std::string::npos ? "" : errors.substr(at, errors.find('\n', at) - at);
        EXPECT_NE(line.find("; " + std::string(row.advice)), std::string::npos)
            << word << " at " << place << ": " << (line.empty() ? errors : line);
      }
    }
  }
}

TEST_F(OtherWordsList, gives_advice_that_is_accepted) {
  std::set<std::string_view> tried;
  for (const OtherWords& row : other_words()) {
    EXPECT_FALSE(row.example.empty()) << row.words;
    if (!tried.insert(row.example).second) continue;
    const std::string text = config_with(sections_of(row.example));
    EXPECT_EQ(errors_of_text(text), "") << row.words << "; " << row.advice << "\n" << text;
  }
}

}  // namespace
}  // namespace tpack
