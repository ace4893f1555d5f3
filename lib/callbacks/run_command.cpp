#include "core/text.h"
#include "system/command_template.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

enum class CommandTime : uint8_t { kTrainBegin, kEpoch, kTrainEnd };
enum class CommandFailure : uint8_t { kContinue, kStop };

struct RunCommandParams {
  std::vector<std::string> command;
  CommandTime at = CommandTime::kEpoch;
  double timeout_s = 60;
  CommandFailure on_error = CommandFailure::kContinue;
};

}  // namespace

template <>
struct EnumNames<CommandTime> {
  static constexpr std::array<std::pair<const char*, CommandTime>, 3> kNames = {
      {{"train_begin", CommandTime::kTrainBegin},
       {"epoch", CommandTime::kEpoch},
       {"train_end", CommandTime::kTrainEnd}}};
};
template <>
struct EnumNames<CommandFailure> {
  static constexpr std::array<std::pair<const char*, CommandFailure>, 2> kNames = {
      {{"continue", CommandFailure::kContinue}, {"stop", CommandFailure::kStop}}};
};

namespace {

constexpr const char* kRunCommand = "callback RunCommand";

/// Source: tensorpack callbacks/stats.py, SendStat; the command is a list, which no shell reads.
class RunCommand final : public Callback {
 public:
  using Params = RunCommandParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs a program without a shell, and logs its exit code. In its arguments, {NAME} is the "
               "newest value of a statistic (none before the first one); {epoch}, {step}, {folder} (of the "
               "run) and {ended_well} (true after training has ended without an error) describe the run; {{ "
               "is a brace.")
        .example("RunCommand: {command: [echo, \"epoch {epoch}: cost {cost}\"], at: epoch}")
        .field("command", &Params::command, "the program and its arguments")
        .required()
        .field("at", &Params::at,
               "when it runs: before training, after each epoch, or after training, even after an error or "
               "an interrupt (the program then waits for it)")
        .field("timeout_s", &Params::timeout_s, time_limit(),
               "seconds after which it is terminated; the run waits for it")
        .field("on_error", &Params::on_error, "action if it fails: report it and continue, or stop the run");
  }
  explicit RunCommand(const Params& p)
      : Callback({.untimed = p.at == CommandTime::kEpoch
                                 ? nullptr
                                 : "'at' makes the command run once; remove one of them",
                  .may_end_early = {p.at == CommandTime::kTrainBegin ? HookPhase::kBeforeTrain
                                                                     : HookPhase::kTriggerEpoch}}),
        p_(p),
        command_(p.command, kRunCommand) {}

  void setup(Setup& setup) override {
    for (const std::string& name : command_.names()) {
      if (!value_of_run(setup.run(), name)) setup.needs({name, {}}, kRunCommand);
    }
    const std::string& program = p_.command[0];
    if (program.find_first_of("{}") == std::string::npos) warn_if_no_program(kRunCommand, program);
  }
  void before_train(Run& run) override {
    if (p_.at == CommandTime::kTrainBegin) run_now(run, run.stop_token());
  }
  void trigger(Run& run) override {
    if (p_.at == CommandTime::kEpoch) run_now(run, run.stop_token());
  }
  void after_train(Run& run) override {
    if (p_.at == CommandTime::kTrainEnd) run_now(run, {});
  }

 private:
  static std::optional<std::string> value_of_run(const Run& run, const std::string& name) {
    if (name == "epoch") return std::to_string(run.epoch());
    if (name == "step") return std::to_string(run.global_step());
    if (name == "folder") return run.folder();
    if (name == "ended_well") return run.ended_well() ? "true" : "false";
    return std::nullopt;
  }

  void run_now(Run& run, const std::stop_token& stop) {
    const std::vector<std::string> command = command_.filled([&](const std::string& name) {
      if (const auto value = value_of_run(run, name)) return *value;
      const auto newest = run.monitors().get_latest(name);
      return newest ? shortest(*newest) : "none";
    });
    const bool is_success = run_logged(kRunCommand, command, p_.timeout_s, stop);
    if (is_success || p_.on_error == CommandFailure::kContinue) return;
    throw ResourceError(std::string(kRunCommand) + ": '" + join(command, " ") + "' failed");
  }

  Params p_;
  CommandTemplate command_;
};

TPACK_REGISTER(Callback, RunCommand, "RunCommand", "SendStat");

}  // namespace
}  // namespace tpack
