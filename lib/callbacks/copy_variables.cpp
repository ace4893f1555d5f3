#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct CopyVariablesParams {
  Ref<NetworkOrLayer> from;
  Ref<NetworkOrLayer> to;
  double rate = 1;
  bool run_before = true;
  bool run_as_trigger = true;
  bool run_step = false;
};

/// to <- to + rate * (from - to), for each variable of the model below both. Source: tensorpack
/// callbacks/graph.py, RunOp, as in its DeepQNetwork example.
class CopyVariables final : public Callback {
 public:
  using Params = CopyVariablesParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Copies the variables of one network to another, such as from the trained network to the "
               "target network of Q-learning. `every: {steps: 250}` copies every 250 steps.")
        .example("CopyVariables: {from: online, to: target, rate: 0.5}")
        .field("from", &Params::from,
               "the variables below this name: a network of `model.networks`, or a part of one")
        .required()
        .field("to", &Params::to, "the variables to set, with the same names below this one")
        .required()
        .field("rate", &Params::rate, between(0, 1),
               "how far the values move towards the new ones: 1 copies them")
        .field("run_before", &Params::run_before,
               "also before training, with rate 1; not when a run is resumed")
        .field("run_as_trigger", &Params::run_as_trigger,
               "after each epoch, or when another callback triggers it")
        .field("run_step", &Params::run_step, "after each step");
  }
  explicit CopyVariables(Params p)
      : Callback({.identity = p.from.name + "-" + p.to.name,
                  .ranks = Ranks::kAll,
                  .ranks_are_fixed = "the weights are the same on all ranks",
                  .changes_variables = true}),
        p_(std::move(p)) {
    if (p_.from == p_.to) throw ConfigError("callback CopyVariables: 'from' and 'to' are the same");
  }

  void setup(Setup& setup) override {
    const std::map<std::string, TensorSpec> all = setup.variables();
    std::vector<std::string> known;
    for (const auto& [name, spec] : all) {
      known.push_back(name);
      if (!name.starts_with(p_.from.name + "/")) continue;
      const std::string target = p_.to.name + name.substr(p_.from.name.size());
      const auto found = all.find(target);
      if (found == all.end() || !(found->second == spec))
        throw ConfigError(p_.to.position,
                          "callback CopyVariables: '" + name + "' is " + spec.str() + ", but '" + target +
                              "' " + (found == all.end() ? "does not exist" : "is " + found->second.str()));
      pairs_.emplace_back(name, target);
    }
    if (pairs_.empty())
      throw ConfigError(p_.from.position,
                        "callback CopyVariables: " + no_match("variable", p_.from.name, known));
  }
  void before_train(Run& run) override {
    if (p_.run_before && !run.resumed()) copy(run, 1);
  }
  void trigger_step(Run& run) override {
    if (p_.run_step) copy(run, p_.rate);
  }
  void trigger(Run& run) override {
    if (p_.run_as_trigger) copy(run, p_.rate);
  }

 private:
  void copy(Run& run, double rate) {
    const std::map<std::string, Tensor> all = run.variables(VariableScope::kModel);
    for (const auto& [from, to] : pairs_) {
      const Tensor& source = all.at(from);
      run.store().set(to, rate == 1 ? source : on_the_way(all.at(to), source, rate));
    }
    run.share_variables();
  }
  static Tensor on_the_way(const Tensor& from, const Tensor& to, double rate) {
    const Tensor mixed(DType::kFloat64, from.shape());
    const auto values = mixed.span<double>();
    for (int64_t i = 0; i < from.elements(); ++i)
      values[static_cast<size_t>(i)] = from.at(i) + rate * (to.at(i) - from.at(i));
    return mixed.cast(from.dtype());
  }

  Params p_;
  std::vector<std::pair<std::string, std::string>> pairs_;  // of names: from, to
};

TPACK_REGISTER(Callback, CopyVariables, "CopyVariables");

}  // namespace
}  // namespace tpack
