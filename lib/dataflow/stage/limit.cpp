#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/chosen_flow.h"
#include "system/log.h"

namespace tpack {
namespace {

struct LimitParams {
  int64_t samples = 0;
  bool shuffle = false;
  int64_t seed = 0;
};

/// The same samples in each pass, in a new order if the source shuffles. Inside a JoinData, all parts with
/// the same limit keep the same samples.
class LimitedFlow final : public ChosenFlow {
 public:
  LimitedFlow(const FlowPtr& up, const LimitParams& p, const StageContext& context)
      : ChosenFlow(up, context, "Limit"), p_(p) {}

  int64_t places() const override { return std::min(p_.samples, source_size()); }
  Place locate(const PassKey& pass, int64_t place) const override {
    if (source().shuffled() && !context().keeps_order)
      place = permuted(place, places(), pass.key(context().key));
    if (p_.shuffle) place = permuted(place, source_size(), mix(static_cast<uint64_t>(p_.seed), kChoice));
    return {pass, place};
  }

 protected:
  void look() const override {
    if (p_.shuffle || places() == source_size()) return;
    for (const ComponentSpec& component : source().spec())
      if (!component.classes.empty() && component.tensor == TensorSpec{DType::kInt32, {}})
        warn_of_absent_classes(component);
  }

 private:
  static constexpr uint64_t kChoice = 0x6c696d6974;  // "limit"

  /// If data are sorted by class, the first samples have only some classes.
  void warn_of_absent_classes(const ComponentSpec& component) const {
    const std::vector<int32_t> labels = class_numbers(source(), component.name);
    const auto classes_of = [&](auto end) {
      std::set<int32_t> classes(labels.begin(), end);
      classes.erase(-1);
      return classes;
    };
    const std::set<int32_t> first = classes_of(labels.begin() + places());
    std::vector<std::string> absent;
    for (const int32_t label : classes_of(labels.end()))
      if (!first.contains(label)) absent.push_back("'" + component.classes[static_cast<size_t>(label)] + "'");
    if (absent.empty()) return;
    log::warning(context().position.str() + ": Limit: the first " + with_thousands(places()) + " of " +
                 with_thousands(source_size()) + " samples have no '" + component.name + "' of class " +
                 join_first(absent) + "; for samples of all classes, write Limit: {samples: " +
                 std::to_string(p_.samples) + ", shuffle: true}");
  }

  static int64_t permuted(int64_t place, int64_t size, uint64_t key) {
    return static_cast<int64_t>(Permutation(static_cast<uint64_t>(size), key)(static_cast<uint64_t>(place)));
  }

  LimitParams p_;
};

/// The first n samples by index, or those at the first n places of a fixed permutation.
class Limit final : public Stage {
 public:
  using Params = LimitParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Uses only a part of the samples of the source before it, the same part in each pass, for "
               "example to try a config.")
        .example("Limit: {samples: 1000, shuffle: true}")
        .field("samples", &Params::samples, between(1, 1e12), "largest number of samples")
        .required()
        .shorthand()
        .field("shuffle", &Params::shuffle,
               "false: the first samples, which all belong to one class if the source is sorted by class, as "
               "in ImageFolder; true: a random choice")
        .field("seed", &Params::seed, "seed of the random choice");
  }
  explicit Limit(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return std::make_shared<LimitedFlow>(up, p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, Limit, "Limit");

}  // namespace
}  // namespace tpack
