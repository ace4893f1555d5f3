#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "callbacks/extra_file.h"
#include "core/clock.h"
#include "system/file_io.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct GraphProfilerParams {};

/// Events of the trace format of Chromium ("complete events"): times in microseconds from the start of the
/// step. Source: the document "Trace Event Format" of the Chromium project.
class Trace {
 public:
  explicit Trace(double start_s) : start_s_(start_s) {}

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

/// Source: tensorpack callbacks/prof.py, GraphProfiler.
class GraphProfiler final : public Callback {
 public:
  using Params = GraphProfilerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Measures the time of each kernel of the first tower in each step, and writes chrome-trace-STEP.json "
        "to the run folder, for Perfetto or chrome://tracing. Choose a few steps with `when`: "
        "`GraphProfiler: {when: epoch == 2 and local_step < 3}`.");
  }
  explicit GraphProfiler(Params /*p*/) {}

  void before_train(Run& run) override {
    if (run.folder().empty()) log::warning("GraphProfiler writes nothing: the run has no log folder");
  }
  void before_run(Run& run) override {
    if (run.folder().empty()) return;
    profile(run, true);
    waited_s_ = run.part<StepData>().waited_s();
    start_s_ = monotonic_s();
  }
  void after_run(Run& run) override {
    if (run.folder().empty()) return;
    const double end_s = monotonic_s();
    Trace trace(start_s_);
    trace.name_thread(0, "step");
    trace.add(0, "step " + std::to_string(run.global_step()), "step", start_s_, end_s - start_s_,
              {{"waited_for_data_s", run.part<StepData>().waited_s() - waited_s_}});
    int thread = 0;
    for (const NamedExecutable& program : run.part<StepPrograms>().programs()) {
      trace.name_thread(++thread, program.name);
      for (const NodeTime& node : program.executable->times()) {
        if (node.began_s < start_s_) continue;  // compiled for a different batch size, so not measured
        trace.add(thread, node.path, node.kind, node.began_s, node.last_s,
                  {{"gflops", node.last_s > 0 ? node.flops / node.last_s / 1e9 : 0}});
      }
    }
    profile(run, false);
    const std::string path = run.folder() + "/chrome-trace-" + std::to_string(run.global_step()) + ".json";
    write_extra_file(path, [&] { write_whole_file(path, trace.json()); });
  }

 private:
  static void profile(Run& run, bool on) {
    for (const NamedExecutable& program : run.part<StepPrograms>().programs())
      program.executable->profile(on);
  }

  double start_s_ = 0;
  double waited_s_ = 0;
};

TPACK_REGISTER(Callback, GraphProfiler, "GraphProfiler");

}  // namespace
}  // namespace tpack
