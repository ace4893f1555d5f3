#pragma once

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"

namespace tpack::testing_cli {

/// The result of a run of the program.
struct Outcome {
  int code = -1;  // 128 + n if signal n ended it
  std::string out;
  std::string err;
};

/// Expects that a run has ended with an exit code, and gives its result back.
inline Outcome exits(int code, Outcome outcome, int line = __builtin_LINE()) {
  EXPECT_EQ(outcome.code, code) << "line " << line << ": " << outcome.err;
  return outcome;
}

using Words = std::vector<std::string>;

inline Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A running program whose stderr can be read line by line.
class Process {
 public:
  Process(const std::vector<std::string>& words, const std::string& out_file) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    // The process that started the tests may ignore some of them (`nohup`), and programs inherit that.
    sigset_t by_default;
    sigemptyset(&by_default);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&by_default, number);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &by_default);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), environ), 0) << words[0];
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    err_ = fdopen(ends[0], "r");
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
    std::fclose(err_);
  }

  /// Reads stderr up to a line that contains this text; false at its end.
  bool wait_for(const std::string& text) {
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), err_) != nullptr) {
      seen_ += line.data();
      if (std::string(line.data()).find(text) != std::string::npos) return true;
    }
    return false;
  }
  void signal(int number) const { kill(pid_, number); }
  pid_t pid() const { return pid_; }
  /// Reads the rest of stderr, then the exit code.
  int wait() {
    wait_for("\x01never");
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  const std::string& err() const { return seen_; }

 private:
  pid_t pid_ = -1;
  std::FILE* err_ = nullptr;
  std::string seen_;
};

inline std::string program() { return build_folder() + "/tpack"; }

/// Runs `tpack WORDS` and waits for its end.
inline Outcome tpack(std::vector<std::string> words) {
  const TemporaryFolder folder;
  words.insert(words.begin(), program());
  Process process(words, folder / "out");
  Outcome outcome;
  outcome.code = process.wait();
  outcome.err = process.err();
  outcome.out = content_of(folder / "out");
  return outcome;
}

/// The last line of a text.
inline std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// A linear model on made-up data: trains an epoch of 10 steps in milliseconds.
inline const char* kTinyConfig = R"(tpack: 1
name: tiny
data:
  train:
    - FakeData: {shapes: [[4, 4, 1], []], dtype: [uint8, int32], names: [image, label], size: 40, domain: [0, 3]}
    - BatchData: {batch_size: 4}
  validation:
    - FakeData: {shapes: [[4, 4, 1], []], dtype: [uint8, int32], names: [image, label], size: 10, domain: [0, 3]}
    - BatchData: {batch_size: 4, remainder: true}
model:
  inputs:
    image: {shape: [4, 4, 1], dtype: uint8, layout: HWC}
    label: {shape: [], dtype: int32}
  layers:
    - Normalize: {scale: 0.5}
    - FullyConnected: {name: fc0, units: 5, activation: ReLU}
    - Dropout: {rate: 0.2}
    - FullyConnected: {name: fc, units: 3}
  cost:
    - SoftmaxCrossEntropy: {logits: fc, labels: label}
  metrics:
    - Accuracy: {logits: fc, labels: label}
optimizer:
  Adam: {learning_rate: 0.01}
engine: {threads: 1, algorithm: heuristic}
max_epoch: 2
callbacks:
  - ModelSaver: {keep: 10}
  - InferenceRunner: {data: validation}
predict: {data: validation, outputs: {probability: {Softmax: fc}}}
)";

/// A folder that contains this config.
class WithTinyConfig : public testing::Test {
 protected:
  WithTinyConfig() { write_content(config(), kTinyConfig); }
  std::string config() const { return folder_ / "tiny.yaml"; }

  TemporaryFolder folder_;
};

}  // namespace tpack::testing_cli
