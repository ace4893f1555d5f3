#include <algorithm>
#include <map>

#include "callbacks/weight_average.h"
#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "core/text.h"
#include "system/log.h"
#include "train/callback_list.h"

namespace tpack {
namespace {

constexpr const char* kSwaFile = "swa.h5";

struct SwaParams {
  int64_t start_epoch = 1;
  int64_t every_k_epochs = 1;
  std::vector<Slot<Callback>> callbacks;
};

/// Puts values into the variables of the model for as long as it lives.
class BorrowedWeights {
 public:
  BorrowedWeights(Run& run, const std::map<std::string, Tensor>& values) : run_(run) {
    for (const auto& [name, value] : run.variables(VariableScope::kModel)) before_[name] = value.clone();
    for (const auto& [name, value] : values) run_.set_variable(name, value);
  }
  ~BorrowedWeights() {
    for (const auto& [name, value] : before_) run_.set_variable(name, value);
  }
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Run& run_;
  std::map<std::string, Tensor> before_;
};

/// Source: Izmailov et al. 2018, Averaging Weights Leads to Wider Optima and Better Generalization.
class Swa final : public Callback {
 public:
  using Params = SwaParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Stochastic weight averaging: keeps the mean of the model's weights at the ends of "
               "epochs, and saves checkpoints/swa.h5 with it, for `tpack eval` and `infer`. Its "
               "callbacks see the model with these weights; training goes on with its own. Moving "
               "averages of BatchNorm are averaged, too, not computed again.")
        .example("SWA: {start_epoch: 2, callbacks: [InferenceRunner: {data: validation}]}")
        .field("start_epoch", &Params::start_epoch, at_least(1), "the first epoch whose weights count")
        .field("every_k_epochs", &Params::every_k_epochs, at_least(1), "epochs from one to the next")
        .field("callbacks", &Params::callbacks,
               "triggered after each new mean, such as InferenceRunner on a flow of another name (in `data`, "
               "`swa: validation` is a second name), or MaxSaver");
  }
  explicit Swa(const Params& p) : p_(p) {
    Diagnostics errors;
    CallbackList list;
    for (const Slot<Callback>& slot : p.callbacks) list.add(slot, errors);
    inner_ = list.take();
    for (const NamedCallback& named : inner_) take_in(named, errors);
    errors.throw_if_any();
  }

  bool only_one() const override { return true; }
  std::vector<std::string> checkpoints() const override {
    std::vector<std::string> files = {kSwaFile};
    for (const NamedCallback& named : inner_) {
      const std::vector<std::string> own = named.callback->checkpoints();
      files.insert(files.end(), own.begin(), own.end());
    }
    return files;
  }
  const char* why_no_every() const override {
    return "the weights are averaged at the ends of epochs; set start_epoch and every_k_epochs";
  }
  const char* why_ranks_are_fixed() const override { return "the weights are the same on all ranks"; }
  void setup(Setup& setup) override {
    if (setup.run().length().max_epoch < p_.start_epoch)
      log::warning("callback SWA has no effect: the run ends with epoch " +
                   std::to_string(setup.run().length().max_epoch) + ", before start_epoch");
    Setup own = setup.after_epochs_only(
        "callback SWA triggers its callbacks after epochs; one of them is to be triggered after steps or "
        "before training");
    for (const NamedCallback& named : inner_) named.callback->set_up(own);
  }
  void compile(Run& run) override { each(Hook::kCompile, run); }
  void before_train(Run& run) override { each(Hook::kBeforeTrain, run); }
  void before_epoch(Run& run) override { each(Hook::kBeforeEpoch, run); }
  void before_run(Run& run) override { each(Hook::kBeforeRun, run); }
  void after_run(Run& run) override { each(Hook::kAfterRun, run); }
  void trigger_step(Run& run) override { each(Hook::kTriggerStep, run); }
  void after_epoch(Run& run) override { each(Hook::kAfterEpoch, run); }
  void trigger(Run& run) override {
    const int64_t since = run.epoch() - p_.start_epoch;
    if (since < 0 || since % p_.every_k_epochs != 0 || last_epoch_ == run.epoch()) return;
    average_.add(run.variables(VariableScope::kModel));
    // Files are written later.
    const auto change = [average = average_](CheckpointContent& content) { put(average, content); };
    {
      const BorrowedWeights borrowed(run, average_.values());
      run.borrow_weights("the mean of " + std::to_string(average_.count()) + " epochs' weights, " + kSwaFile);
      run.with_change(change, [&] { each(Hook::kTriggerEpoch, run); });
      run.borrow_weights("");
    }
    last_epoch_ = run.epoch();
    run.request_checkpoint({.name = kSwaFile,
                            .purpose = CheckpointRequest::Purpose::kKeepBest,
                            .saved = [](const std::string& path) { log::info("saved " + path); },
                            .change = change});
  }
  void after_train(Run& run) override { each(Hook::kAfterTrain, run); }

  bool may_end_early(const Run& run, HookPhase phase) const override {
    return std::any_of(inner_.begin(), inner_.end(),
                       [&](const NamedCallback& named) { return named.callback->ends_early(run, phase); });
  }
  std::vector<std::pair<std::string, Goal>> saves_best_of() const override {
    std::vector<std::pair<std::string, Goal>> all;
    for (const NamedCallback& named : inner_)
      for (auto& one : named.callback->saves_best_of()) all.push_back(std::move(one));
    return all;
  }
  void save(State& state) const override {
    state.put("last_epoch", last_epoch_);
    State average;
    average_.save(average);
    state.put("average", average);
    for (const NamedCallback& named : inner_) {
      State own;
      named.callback->save(own);
      state.put(named.name, own);
    }
  }
  void load(const State& state) override {
    last_epoch_ = state.get<int64_t>("last_epoch");
    average_.load(state.part("average"));
    for (const NamedCallback& named : inner_) {
      const State own = state.part(named.name);
      if (!own.empty()) named.callback->load(own);
    }
  }

 private:
  /// Its callbacks see weights that the chief alone has.
  static void take_in(const NamedCallback& named, Diagnostics& errors) {
    Callback& callback = *named.callback;
    const std::vector<std::string> files = callback.checkpoints();
    if (!callback.is_for_chief() && (callback.why_ranks_are_fixed() != nullptr || callback.ranks()))
      errors.add(named.position, "callback SWA: its callbacks run on the chief alone, which this one cannot");
    if (std::find(files.begin(), files.end(), kCheckpointNames) != files.end()) {
      errors.add(named.position,
                 "callback SWA: a run cannot go on from the mean of weights, so ModelSaver is none of its "
                 "callbacks; list it after SWA");
    }
    callback.run_on(Ranks::kChief);
  }
  void each(Hook hook, Run& run) {
    for (const NamedCallback& named : inner_) named.callback->call(hook, run);
  }

  /// A file of these weights is to use, not to go on from: the optimizer's state is of others.
  static void put(const WeightAverage& average, CheckpointContent& content) {
    for (const auto& [name, value] : average.values()) content.tensors[layout::kModel + name] = value;
    std::erase_if(content.tensors,
                  [](const auto& entry) { return !entry.first.starts_with(layout::kModel); });
    content.texts.erase(layout::kRun);
  }

  Params p_;
  std::vector<NamedCallback> inner_;
  WeightAverage average_;
  int64_t last_epoch_ = 0;  // that was added
};

TPACK_REGISTER(Callback, Swa, "SWA", "StochasticWeightAveraging");

}  // namespace
}  // namespace tpack
