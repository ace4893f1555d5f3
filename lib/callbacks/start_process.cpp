#include <memory>

#include "core/text.h"
#include "system/log.h"
#include "system/process.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct StartProcessParams {
  std::vector<std::string> command;
  double grace_s = 5;
};

constexpr const char* kStartProcess = "callback StartProcess";

/// Source: tensorpack callbacks/concurrency.py, StartProcOrThread.
class StartProcess final : public Callback {
 public:
  using Params = StartProcessParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Starts a program before training, without a shell, and terminates it after training, even "
               "after an error. If it ends earlier, a warning reports how.")
        .example("StartProcess: {command: [tensorboard, --logdir, train_log]}")
        .field("command", &Params::command, "the program and its arguments")
        .required()
        .field("grace_s", &Params::grace_s, between(0, 3600),
               "seconds between SIGTERM and SIGKILL at the end");
  }
  explicit StartProcess(Params p) : Callback({.ranks = Ranks::kAll}), p_(std::move(p)) {
    if (p_.command.empty() || p_.command[0].empty())
      throw ConfigError(std::string(kStartProcess) + ": 'command' has no program");
  }

  void setup(Setup& /*setup*/) override { warn_if_no_program(kStartProcess, p_.command[0]); }
  void before_train(Run& /*run*/) override {
    try {
      process_ = std::make_unique<ChildProcess>(p_.command);
    } catch (const ResourceError& error) {
      throw ResourceError(std::string(kStartProcess) + ": " + error.what());
    }
    log::info(std::string(kStartProcess) + ": started '" + join(p_.command, " ") + "'");
  }
  void after_epoch(Run& /*run*/) override {
    if (process_ == nullptr) return;
    const auto end = process_->ended();
    if (!end) return;
    log::warning(std::string(kStartProcess) + ": '" + join(p_.command, " ") + "' has ended: " + end->str());
    process_.reset();
  }
  void after_train(Run& /*run*/) override {
    if (process_ == nullptr) return;
    const bool ran = !process_->ended();
    const ProcessEnd end = process_->stop(p_.grace_s);
    log::info(std::string(kStartProcess) + ": '" + join(p_.command, " ") + "'" +
              (ran ? " was ended: " : " has ended: ") + end.str());
    process_.reset();
  }

 private:
  Params p_;
  std::unique_ptr<ChildProcess> process_;
};

TPACK_REGISTER(Callback, StartProcess, "StartProcess", "StartProcOrThread");

}  // namespace
}  // namespace tpack
