#include <optional>
#include <string>

#include "callbacks/extra_file.h"
#include "system/file_io.h"
#include "system/log.h"
#include "train/callback.h"
#include "train/step_trace.h"

namespace tpack {
namespace {

struct GraphProfilerParams {};

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
    trace_.emplace(run.part<StepPrograms>(), run.part<StepData>());
  }
  void after_run(Run& run) override {
    if (run.folder().empty()) return;
    const std::string json = trace_->finish(run.global_step());
    const std::string path = run.folder() + "/chrome-trace-" + std::to_string(run.global_step()) + ".json";
    write_extra_file(path, [&] { write_whole_file(path, json); });
  }

 private:
  std::optional<StepTrace> trace_;  // of the step that runs
};

TPACK_REGISTER(Callback, GraphProfiler, "GraphProfiler");

}  // namespace
}  // namespace tpack
