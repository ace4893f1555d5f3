#include "train/step_trace.h"

#include <nlohmann/json.hpp>

#include "core/clock.h"

namespace tpack {
namespace {

/// "Complete events": times in microseconds from the start of the step.
class TraceEvents {
 public:
  explicit TraceEvents(double start_s) : start_s_(start_s) {}

  void name_thread(int thread, const std::string& name) {
    events_.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 0}, {"tid", thread}, {"args", {{"name", name}}}});
  }
  void add(int thread, const std::string& name, const std::string& category, double began_s, double seconds,
           const nlohmann::json& args) {
    events_.push_back({{"ph", "X"},
                       {"name", name},
                       {"cat", category},
                       {"pid", 0},
                       {"tid", thread},
                       {"ts", (began_s - start_s_) * 1e6},
                       {"dur", seconds * 1e6},
                       {"args", args}});
  }
  std::string json() const { return nlohmann::json{{"traceEvents", events_}}.dump(); }

 private:
  double start_s_;
  nlohmann::json events_ = nlohmann::json::array();
};

void profile(const StepPrograms& programs, bool on) {
  for (const NamedExecutable& program : programs.programs()) program.executable->profile(on);
}

}  // namespace

StepTrace::StepTrace(const StepPrograms& programs, const StepData& data)
    : programs_(programs), data_(data), waited_s_(data.waited_s()) {
  profile(programs_, true);
  start_s_ = monotonic_s();
}

std::string StepTrace::finish(int64_t step) {
  const double end_s = monotonic_s();
  profile(programs_, false);
  TraceEvents trace(start_s_);
  trace.name_thread(0, "step");
  trace.add(0, "step " + std::to_string(step), "step", start_s_, end_s - start_s_,
            {{"waited_for_data_s", data_.waited_s() - waited_s_}});
  int thread = 0;
  for (const NamedExecutable& program : programs_.programs()) {
    trace.name_thread(++thread, program.name);
    for (const NodeTime& node : program.executable->times()) {
      if (node.began_s < start_s_) continue;  // compiled for a different batch size, so not measured
      trace.add(thread, node.path, node.kind, node.began_s, node.last_s,
                {{"gflops", node.last_s > 0 ? node.flops / node.last_s / 1e9 : 0}});
    }
  }
  return trace.json();
}

}  // namespace tpack
