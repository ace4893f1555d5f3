#include "system/machine.h"
#include "train/callback.h"

namespace tpack {
namespace {

constexpr const char* kFree = "host_free_memory_gb";
constexpr const char* kOwn = "resident_memory_gb";
constexpr double kGb = 1e9;

/// Source: tensorpack callbacks/prof.py, HostMemoryTracker.
class HostMemoryTracker final : public Callback {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Reports after each epoch host_free_memory_gb, the memory available to this process (1 GB is 10^9 "
        "bytes; a limit of the container counts), and resident_memory_gb, the resident memory of the "
        "process.");
  }
  explicit HostMemoryTracker(Params /*p*/) : Callback({.only_one = true, .ranks = Ranks::kAll}) {}

  void setup(Setup& setup) override {
    for (const char* name : {kFree, kOwn}) setup.provides(name);
  }
  void trigger(Run& run) override {
    if (const auto free = available_memory())
      run.monitors().put_scalar(kFree, static_cast<double>(*free) / kGb);
    run.monitors().put_scalar(kOwn, static_cast<double>(resident_memory()) / kGb);
  }
};

TPACK_REGISTER(Callback, HostMemoryTracker, "HostMemoryTracker");

}  // namespace
}  // namespace tpack
