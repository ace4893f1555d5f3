#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/program_runner.h"
#include "support/temporary_folder.h"

namespace tpack::reliability {

using testing_cli::Outcome;
using testing_cli::Process;
using testing_cli::program;

/// How a config is run with another trainer: what precedes the program, and which keys change.
struct Launch {
  std::string name;
  std::vector<std::string> before = {};
  std::vector<std::string> changes = {};
};

inline const Launch kSimple{"Simple"};
inline const Launch kTowers{"Towers", {}, {"--set", "trainer={SyncMultiGPU: {devices: [cpu:0, cpu:1]}}"}};
/// Open MPI uses only this machine's loopback network.
inline const Launch kRanks{"Ranks",
                           {"mpirun", "--oversubscribe", "--mca", "btl", "self,vader,tcp", "--mca",
                            "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo", "-n", "2"},
                           {"--set", "trainer={Horovod: {}}"}};

/// Why this machine or build cannot start ranks; nothing if it can.
inline std::optional<std::string> no_ranks() {
  if (TPACK_HAS_MPI == 0) return "built without MPI";
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) return "no mpirun";
  return std::nullopt;
}

/// The child processes of a process.
inline std::vector<pid_t> children_of(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  return {std::istream_iterator<pid_t>(list), {}};
}

/// Trains the config of this folder in its own run folders, with its own cache of kernel timings.
class Training : public testing::Test {
 protected:
  Training() {
    setenv("TPACK_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }

  std::string config_ = source_folder() + "/tests/reliability/convnet.yaml";

  std::string run_folder(const std::string& name) const { return folder_ / name; }
  std::string checkpoints(const std::string& name) const { return run_folder(name) + "/checkpoints"; }
  std::string checkpoint(int64_t step, const std::string& name) const {
    return checkpoints(name) + "/model-" + std::to_string(step) + ".h5";
  }

  /// The command line that trains in run folder `name`.
  std::vector<std::string> words(const std::string& name, const std::vector<std::string>& more = {},
                                 const Launch& launch = kSimple) const {
    std::vector<std::string> all = launch.before;
    for (const std::string& word :
         {program(), std::string("train"), config_, std::string("--log-dir"), run_folder(name)})
      all.push_back(word);
    all.insert(all.end(), launch.changes.begin(), launch.changes.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome train(const std::string& name, const std::vector<std::string>& more = {},
                const Launch& launch = kSimple) const {
    Process process(words(name, more, launch), folder_ / "out");
    Outcome outcome;
    outcome.code = process.wait();
    outcome.err = process.err();
    return outcome;
  }
  /// Trains to the end and expects success.
  void train_well(const std::string& name, const std::vector<std::string>& more = {},
                  const Launch& launch = kSimple) const {
    const Outcome outcome = train(name, more, launch);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  /// Continues a run from the checkpoint of a step to the end and expects success.
  void go_on_well(const std::string& name, int64_t step, const std::vector<std::string>& more = {},
                  const Launch& launch = kSimple) const {
    std::vector<std::string> all = {"--resume", "auto"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = train(name, all, launch);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expect_resumed(outcome.err, checkpoint(step, name));
  }
  /// Checks that the run really was resumed: a run that started over would end with the same bits.
  static void expect_resumed(const std::string& messages, const std::string& path) {
    EXPECT_NE(messages.find("resuming from " + path + " "), std::string::npos) << messages;
  }

  TemporaryFolder folder_;
};

}  // namespace tpack::reliability
