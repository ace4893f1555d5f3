// What bash offers after `eval "$(tpack completion bash)"`.
#include <filesystem>
#include <fstream>

#include <gmock/gmock-matchers.h>

#include "support/program_runner.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

class Completion : public testing::Test {
 protected:
  Completion() {
    fs::create_directories(folder_ / "runs");
    for (const char* name : {"a.yaml", "a b.yaml", "model.h5", "notes.txt"})
      write_content(folder_ / name, "");
  }
  /// The possible values of the last word, in the test's folder.
  std::vector<std::string> offered(const std::string& words) const {
    const std::string script = "cd '" + folder_.str() + "'; eval \"$('" + testing_cli::program() +
                               "' completion bash)\"; COMP_WORDS=(tpack " + words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tpack; printf '%s\\n' "
                               "\"${COMPREPLY[@]}\"";
    testing_cli::Process bash({"/bin/bash", "-c", script}, out_.str() + "/out");
    EXPECT_EQ(bash.wait(), 0) << bash.err();
    std::ifstream out(out_.str() + "/out");
    std::vector<std::string> lines;
    for (std::string line; std::getline(out, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  TemporaryFolder out_;
};

TEST_F(Completion, knows_commands_and_options) {
  EXPECT_THAT(offered("tr"), UnorderedElementsAre("train"));
  EXPECT_THAT(offered("train --re"), UnorderedElementsAre("--resume", "--replan"));
}

TEST_F(Completion, finds_the_command_after_options_of_the_program) {
  EXPECT_THAT(offered("-q tr"), UnorderedElementsAre("train"));
  EXPECT_THAT(offered("-q train --re"), UnorderedElementsAre("--resume", "--replan"));
}

TEST_F(Completion, knows_the_words_that_an_option_takes) {
  EXPECT_THAT(offered("infer model.h5 --format ''"), UnorderedElementsAre("jsonl", "csv", "hdf5"));
  EXPECT_THAT(offered("completion ''"), IsSupersetOf({"bash", "fish", "zsh"}));
}

TEST_F(Completion, knows_the_names_of_components) {
  EXPECT_THAT(offered("describe Conv2"), UnorderedElementsAre("Conv2D", "Conv2DTranspose"));
  EXPECT_THAT(offered("describe ''"), IsSupersetOf({"Adam", "ModelSaver", "Mnist", "--json"}));
  EXPECT_THAT(offered("list opt"), UnorderedElementsAre("optimizer"));
  EXPECT_THAT(offered("list input"), UnorderedElementsAre("input source"));
}

TEST_F(Completion, knows_which_files_are_configs_and_checkpoints) {
  EXPECT_THAT(offered("train a"), UnorderedElementsAre("a.yaml", "a b.yaml"));
  EXPECT_THAT(offered("check ''"), IsSupersetOf({"a.yaml", "runs"}));
  EXPECT_THAT(offered("check ''"), Not(Contains("notes.txt")));
  EXPECT_THAT(offered("train a.yaml --resume ''"), UnorderedElementsAre("auto", "never", "model.h5", "runs"));
  EXPECT_THAT(offered("eval m"), UnorderedElementsAre("model.h5"));
}

}  // namespace
}  // namespace tpack
