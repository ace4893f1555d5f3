#include "cli/resume_command.h"

#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

namespace tpack {
namespace {

/// The words into which a shell splits a command, one per line.
std::string words_in_shell(const std::string& command) {
  const std::string print = "printf '%s\\n' " + command;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(print.c_str(), "r"), pclose);
  std::string text;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  return text;
}

TEST(ResumeCommand, repeats_what_the_run_was_started_with) {
  TrainOptions options;
  options.config = "mine.yaml";
  EXPECT_EQ(resume_command("tpack", options, {}), "tpack train mine.yaml --resume auto");
  EXPECT_EQ(resume_command("build/my build/tpack", options, {}),
            "'build/my build/tpack' train mine.yaml --resume auto");
  options.log_dir = "train_log/a";
  options.overrides = {"max_epoch=3", "trainer={SyncMultiGPU: {devices: [cpu:0]}}"};
  EXPECT_EQ(resume_command("tpack", options, {.count = 2}),
            "mpirun -n 2 tpack train mine.yaml --log-dir train_log/a --set max_epoch=3 "
            "--set 'trainer={SyncMultiGPU: {devices: [cpu:0]}}' --resume auto");
  options.overrides = {};
  EXPECT_EQ(resume_command("tpack", options, {.count = 2, .by_procs = true}),
            "tpack train mine.yaml --procs 2 --log-dir train_log/a --resume auto");
  options.until_epoch = 2;
  EXPECT_EQ(resume_command("tpack", options, {}),
            "tpack train mine.yaml --log-dir train_log/a --until-epoch 2 --resume auto");
}

TEST(ResumeCommand, is_quoted_for_a_shell) {
  TrainOptions options;
  options.config = "it's here/$HOME.yaml";
  options.overrides = {"name=a b", "vars.x=*", "vars.y=`id`\"\\", "vars.z="};
  EXPECT_EQ(
      words_in_shell(resume_command("tpack", options, {})),
      "tpack\ntrain\nit's here/$HOME.yaml\n--set\nname=a b\n--set\nvars.x=*\n--set\nvars.y=`id`\"\\\n--set\n"
      "vars.z=\n--resume\nauto\n");
}

}  // namespace
}  // namespace tpack
