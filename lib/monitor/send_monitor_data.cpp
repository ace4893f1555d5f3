#include <algorithm>
#include <map>

#include "core/registry.h"
#include "core/stop.h"
#include "core/text.h"
#include "monitor/monitor.h"
#include "system/command_template.h"
#include "system/log.h"

namespace tpack {
namespace {

struct SendMonitorDataParams {
  std::vector<std::string> command;
  double timeout_s = 60;
};

constexpr const char* kSendMonitorData = "monitor SendMonitorData";

/// Source: tensorpack callbacks/monitor.py, SendMonitorData; without a shell.
class SendMonitorData final : public Monitor {
 public:
  using Params = SendMonitorDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs a program, without a shell, each time all scalars in its arguments have new values: "
               "{NAME} is the value of a scalar, {epoch} and {step} are the current ones, {{ is a brace.")
        .example("SendMonitorData: {command: [echo, \"{epoch}: {cost}\"]}")
        .field("command", &Params::command, "the program and its arguments")
        .required()
        .field("timeout_s", &Params::timeout_s, time_limit(),
               "seconds after which the program is ended; the run waits for it, but an interrupt ends it");
  }
  explicit SendMonitorData(const Params& p) : p_(p), command_(p.command, kSendMonitorData) {
    for (const std::string& name : command_.names()) {
      if (name != "epoch" && name != "step") wanted_.push_back(name);
    }
    if (wanted_.empty())
      throw ConfigError(std::string(kSendMonitorData) + ": 'command' names no scalar; write one as {NAME}");
  }

  std::vector<std::string> needed_scalars() const override { return wanted_; }
  void open(const RunRecord& run) override { stop_ = run.stop; }
  void put_scalar(const std::string& name, double value, const StepStamp& at) override {
    if (std::find(wanted_.begin(), wanted_.end(), name) == wanted_.end()) return;
    values_[name] = value;
    if (values_.size() < wanted_.size()) return;
    has_run_ = true;
    const std::vector<std::string> command = command_.filled([&](const std::string& part) {
      if (part == "epoch") return std::to_string(at.epoch);
      return part == "step" ? std::to_string(at.global_step) : shortest(values_.at(part));
    });
    values_.clear();
    try {
      run_logged(kSendMonitorData, command, p_.timeout_s, stop_);
    } catch (const Stopped&) {
      log::warning(std::string(kSendMonitorData) + ": '" + join(command, " ") +
                   "' was ended because the run was interrupted");
    }
  }
  void end_epoch(const StepStamp& /*at*/) override {}
  void close() override {
    if (has_run_) return;
    std::vector<std::string> missing;
    for (const std::string& name : wanted_) {
      if (!values_.contains(name)) missing.push_back(name);
    }
    log::warning(std::string(kSendMonitorData) + ": nothing was sent, because there was no value of " +
                 join(missing, ", "));
  }

 private:
  Params p_;
  CommandTemplate command_;
  std::vector<std::string> wanted_;
  std::map<std::string, double> values_;  // since the last run
  bool has_run_ = false;
  std::stop_token stop_;
};

TPACK_REGISTER(Monitor, SendMonitorData, "SendMonitorData");

}  // namespace
}  // namespace tpack
