#include "train/callback.h"

namespace tpack {
namespace {

/// Gives `steps_counted`; the count continues after a resume.
class CountSteps final : public Callback {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Counts the steps of a run."); }
  explicit CountSteps(Params /*p*/) {}

  void setup(Setup& setup) override { setup.provides("steps_counted"); }
  void after_run(Run& /*run*/) override { ++count_; }
  void trigger(Run& run) override { run.monitors().put_scalar("steps_counted", static_cast<double>(count_)); }
  void save(State& state) const override { state.put("count", count_); }
  void load(const State& state) override { count_ = state.get<int64_t>("count"); }

 private:
  int64_t count_ = 0;
};

TPACK_REGISTER(Callback, CountSteps, "CountSteps");

}  // namespace
}  // namespace tpack
