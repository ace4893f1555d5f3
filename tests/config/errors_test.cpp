// Every errors/NAME.yaml is a config with mistakes; NAME.txt is the whole text of the error, paths relative
// to that folder. NAME.set, where there is one, holds overrides, one a line. Files of errors/parts/ are
// included by others.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/load_config.h"
#include "core/error.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> overrides_of(fs::path path) {
  std::vector<std::string> all;
  std::ifstream file(path.replace_extension(".set"));
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

/// What is wrong with a config, "" where nothing is.
std::string errors_of(const std::string& path) {
  try {
    load_config(path, {.overrides = overrides_of(path)});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(TPACK_SOURCE_DIR) / "tests/config/errors")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ErrorCorpus : public testing::TestWithParam<std::string> {};

TEST_P(ErrorCorpus, is_refused_with_the_whole_text) {
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(TPACK_SOURCE_DIR) / "tests/config/errors");
  const std::string errors = errors_of(GetParam() + ".yaml");
  const std::string expected = read(GetParam() + ".txt");
  fs::current_path(before);
  ASSERT_FALSE(expected.empty()) << "the text is missing; found:\n" << errors;
  EXPECT_EQ(errors + "\n", expected);
}

INSTANTIATE_TEST_SUITE_P(Files, ErrorCorpus, testing::ValuesIn(cases()),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace tpack
