#include "core/registry.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

struct PrefetchDataParams {
  std::optional<int> num_prefetch = {};
  std::optional<WorkerCount> num_proc = {};
};

/// tensorpack's runners as settings of the parallel engine: threads make samples, in order, each exactly
/// once. Same as `{flow: [...], workers: num_proc, prefetch: num_prefetch}`, at any position in the list.
class PrefetchData final : public Stage {
 public:
  using Params = PrefetchDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Sets the number of threads that make samples and the number of batches made ahead.")
        .example("PrefetchData: {num_prefetch: 8, num_proc: 4}")
        .field("num_prefetch", &Params::num_prefetch, between(1, 4096),
               "batches made ahead; same as `prefetch` of the flow")
        .shorthand()
        .field("num_proc", &Params::num_proc, "threads, or auto; same as `workers` of the flow");
  }
  explicit PrefetchData(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& /*context*/) const override { return up; }
  void configure(FlowSettings& settings) const override {
    if (p_.num_prefetch) settings.prefetch = *p_.num_prefetch;
    if (p_.num_proc) settings.workers = *p_.num_proc;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, PrefetchData, "PrefetchData", "PrefetchDataZMQ", "MultiProcessRunner",
               "MultiProcessRunnerZMQ", "MultiThreadRunner", "MultiThreadPrefetchData");

}  // namespace
}  // namespace tpack
