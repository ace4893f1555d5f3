// Every tests/config/errors/NAME.yaml is a config with mistakes, and NAME.txt has the facts of its errors
// (see error_facts.h), with paths relative to that folder. NAME.set, if it exists, has overrides, one per
// line. Files of errors/parts/ are included by other configs.
//
// After an intended change, scripts/update_error_texts.py rewrites the expected texts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/failure.h"
#include "core/text.h"
#include "experiment/check.h"
#include "experiment/error_facts.h"
#include "reports/component_docs.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

fs::path corpus() { return fs::path(source_folder()) / "tests/config/errors"; }

std::vector<std::string> overrides_of(const std::string& name) {
  std::vector<std::string> all;
  std::ifstream file(corpus() / (name + ".set"));
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

/// The text without the components that an error lists, so that a new component changes no expected text:
/// "unknown cost 'x'; known: A (...), B (...)" and "unknown cost 'x'; `tpack list cost` lists all" become
/// "unknown cost 'x'; known: every cost".
std::string without_component_lists(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    for (const std::string& kind : documented_kinds()) {
      const size_t name = line.find("unknown " + kind + " '");
      const size_t end = name == std::string::npos ? name : line.find("'; ", name);
      if (end == std::string::npos) continue;
      const std::string listed = line.substr(end + 3);
      if (listed.starts_with("known: ") || listed.starts_with("`tpack list"))
        line.replace(end + 3, listed.size(), "known: every " + kind);
    }
  }
  return join(lines, "\n");
}

/// The errors of a config of the corpus; "" if it has none.
std::string errors_of(const std::string& name) {
  const fs::path before = fs::current_path();
  fs::current_path(corpus());
  std::string text;
  try {
    const CheckedExperiment checked(name + ".yaml", overrides_of(name), true);
  } catch (...) {
    const Failure failure = current_failure();
    EXPECT_EQ(failure.exit_code, 2) << name;
    text = failure.text;
  }
  fs::current_path(before);
  return without_component_lists(text);
}

/// Writes what was found for scripts/update_error_texts.py, which passes a folder for it.
void offer_for_update(const std::string& file, const std::string& found) {
  if (const char* folder = std::getenv("TPACK_FOUND_ERROR_TEXTS"))
    write_content(fs::path(folder) / file, found);
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(corpus())) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ErrorCorpus : public testing::TestWithParam<std::string> {};

TEST_P(ErrorCorpus, is_rejected_with_its_facts) {
  const std::string errors = errors_of(GetParam());
  ASSERT_FALSE(errors.empty()) << "the config is valid";
  const std::string facts = error_facts(errors) + "\n";
  offer_for_update(GetParam() + ".txt", facts);
  EXPECT_EQ(facts, content_of(corpus() / (GetParam() + ".txt"))) << "the text is:\n" << errors;
}

INSTANTIATE_TEST_SUITE_P(Files, ErrorCorpus, testing::ValuesIn(cases()),
                         [](const auto& param_info) { return param_info.param; });

TEST(ErrorCorpusFiles, are_many) { EXPECT_GE(cases().size(), 80U); }

TEST(ErrorCorpusFiles, belong_to_a_config) {
  for (const auto& entry : fs::directory_iterator(corpus())) {
    if (entry.is_directory()) continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".yaml"))) << entry.path();
  }
}

const std::string kError = "a.yaml:3:5: unknown key 'rat' in optimizer Momentum; did you mean 'rate'?";

TEST(ErrorFacts, are_place_kind_words_and_suggestion) {
  EXPECT_EQ(error_facts(kError), "a.yaml:3:5: unknown; 'rat'; Momentum; did you mean 'rate'");
  EXPECT_EQ(error_facts("a.yaml:4:35: 'batch_size' of stage BatchData is 0; must be from 1 to 16777216"),
            "a.yaml:4:35: must; 'batch_size'; BatchData 0 1 16777216");
  EXPECT_EQ(error_facts("--set seed: expected an integer, found the string 'one'"),
            "--set seed: expected; found the string 'one'");
  EXPECT_EQ(error_facts("a.yaml:1:2: unknown value 'x'; must be one of none, HWC; did you mean 'y'?"),
            "a.yaml:1:2: unknown; 'x'; must be one of none, HWC; did you mean 'y'");
  EXPECT_EQ(error_facts("a.yaml:1:2: unknown cost 'x'; known: Huber (mean (robust); 2 terms), Other (any)"),
            "a.yaml:1:2: unknown; 'x'; known: Huber, Other");
}

TEST(ErrorFacts, change_with_everything_but_the_wording) {
  EXPECT_EQ(error_facts(kError), error_facts("a.yaml:3:5: optimizer Momentum has an unknown key, 'rat': "
                                             "did you mean 'rate'?"));
  for (const std::string changed :
       {"a.yaml:3:6: unknown key 'rat' in optimizer Momentum; did you mean 'rate'?",
        "b.yaml:3:5: unknown key 'rat' in optimizer Momentum; did you mean 'rate'?",
        "unknown key 'rat' in optimizer Momentum; did you mean 'rate'?",
        "a.yaml:3:5: unknown key 'rat' in optimizer Momentum",
        "a.yaml:3:5: unknown key 'rat' in optimizer Momentum; did you mean 'ratio'?",
        "a.yaml:3:5: unknown key 'rat' in optimizer Momentum; known: rate",
        "a.yaml:3:5: unknown key in optimizer Momentum; did you mean 'rate'?",
        "a.yaml:3:5: unknown key 'rot' in optimizer Momentum; did you mean 'rate'?",
        "a.yaml:3:5: unknown key 'rat' in optimizer Adam; did you mean 'rate'?",
        "a.yaml:3:5: unknown key 'rat' in optimizer Momentum at 7; did you mean 'rate'?",
        "a.yaml:3:5: key 'rat' is missing in optimizer Momentum; did you mean 'rate'?"}) {
    EXPECT_NE(error_facts(changed), error_facts(kError)) << changed;
  }
}

TEST(ErrorFacts, count_the_errors) {
  EXPECT_NE(error_facts(kError + "\n" + kError), error_facts(kError));
  EXPECT_EQ(error_facts(kError + "\n" + kError), error_facts(kError) + "\n" + error_facts(kError));
}

TEST(ErrorFacts, know_quotes_from_apostrophes) {
  EXPECT_EQ(error_facts("a.yaml:1:1: the model's `layers` don't have 'it's'"),
            "a.yaml:1:1:; `layers` 'it's'");
  EXPECT_EQ(error_facts("a.yaml:1:1: a ':' in \"f\\nc\""), "a.yaml:1:1:; ':' \"f\\nc\"");
}

}  // namespace
}  // namespace tpack
