#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "core/rng.h"
#include "dataflow/chosen_flow.h"
#include "dataflow/joined_flow.h"

namespace tpack {
namespace {

struct PairDataParams {
  std::optional<ComponentRef> component;
  double same = 0.5;
};

/// The samples in the order of the source.
class FirstOfPair final : public ChosenFlow {
 public:
  FirstOfPair(const FlowPtr& up, const StageContext& context) : ChosenFlow(up, context, "PairData") {}

  int64_t places() const override { return source_size(); }
  Place locate(const PassKey& pass, int64_t place) const override { return {pass, place}; }
};

/// A partner for each sample of the source, drawn in each pass.
class SecondOfPair final : public ChosenFlow {
 public:
  SecondOfPair(const FlowPtr& up, PairDataParams p, const StageContext& context)
      : ChosenFlow(up, context, "PairData"), p_(std::move(p)) {
    if (!p_.component || has_classes(*p_.component)) return;
    const ComponentSpec& found = spec()[spec().index(*p_.component, "stage PairData")];
    throw mistake(
        "component '" + found.name + "' is " + found.tensor.str() + ", not a class number, int32 []",
        p_.component->position);
  }

  int64_t places() const override { return source_size(); }
  Place locate(const PassKey& pass, int64_t place) const override {
    Rng rng(mix(pass.key(context().key), static_cast<uint64_t>(place)));
    // Separate random numbers, because the sample is also the first of a pair.
    return {{pass.seed, pass.pass, 2 * pass.repeat + 1}, partner(rng, static_cast<size_t>(place))};
  }

 protected:
  void look() const override {
    const auto count = static_cast<size_t>(source_size());
    std::vector<int32_t> numbers(count, 0);
    if (p_.component) {
      const size_t index = spec().index(*p_.component, "stage PairData");
      require_fixed(index);
      numbers = class_numbers(source(), spec()[index].name);
    }
    const auto& facts = source().part<SampleFacts>();
    order_.clear();
    for (size_t i = 0; i < count; ++i) {
      if (numbers[i] >= 0 && !facts.is_bad(static_cast<int64_t>(i))) order_.push_back(i);
    }
    tell_bad(static_cast<int64_t>(count - order_.size()));
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
    spans_.assign(count, {});
    size_t pairs = 0;
    for (size_t begin = 0; begin < order_.size();) {
      size_t end = begin;
      while (end < order_.size() && numbers[order_[end]] == numbers[order_[begin]]) ++end;
      for (size_t at = begin; at < end; ++at) spans_[order_[at]] = {begin, end, at};
      pairs += end - begin > 1 ? 1 : 0;
      begin = end;
    }
    if (order_.size() < 2) throw DataError("PairData: a pair needs two samples, but there are fewer");
    if (!p_.component) return;
    if (spans_[order_[0]].size() == order_.size() && p_.same < 1)
      throw DataError(
          "PairData: all samples belong to one class, so no pair can have two classes; set same: 1");
    if (pairs == 0 && p_.same > 0)
      throw DataError("PairData: no class has two samples, so no pair can share a class; set same: 0");
  }

 private:
  /// The range of a class in `order_`, and the position of one of its samples.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
    size_t at = 0;
    size_t size() const { return end - begin; }
  };

  int64_t partner(Rng& rng, size_t sample) const {
    const Span own = spans_[sample];
    if (own.size() == 0) return static_cast<int64_t>(sample);  // a bad sample, which has no pair
    const size_t others = order_.size() - own.size();
    const bool of_class =
        !p_.component || others == 0 || (own.size() > 1 && static_cast<double>(rng.uniform()) < p_.same);
    size_t at = draw(rng, of_class ? own.size() - 1 : others);
    if (of_class)
      at += own.begin + (own.begin + at >= own.at ? 1 : 0);
    else if (at >= own.begin)
      at += own.size();
    return static_cast<int64_t>(order_[at]);
  }
  static size_t draw(Rng& rng, size_t below) {
    const uint64_t high = rng.next();
    return static_cast<size_t>((high << 32U | rng.next()) % below);
  }

  PairDataParams p_;
  mutable std::vector<size_t> order_;  // samples, sorted by class
  mutable std::vector<Span> spans_;    // by sample
};

/// Source: Koch et al. 2015, "Siamese neural networks for one-shot image recognition", where half of the
/// pairs have the same class.
class PairData final : public Stage {
 public:
  using Params = PairDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Adds a partner to each sample of the source before it: another sample, drawn again in each "
               "pass. The partner's image and label are the components image_2 and label_2. For siamese "
               "networks and mixup.")
        .example("PairData: label")
        .field("component", &Params::component,
               "the component with the class number, needed for `same`; default: partners are drawn from all "
               "samples")
        .shorthand()
        .field("same", &Params::same, between(0, 1),
               "share of pairs with the same class; a sample that is alone in its class gets a partner from "
               "another class");
  }
  explicit PairData(Params p) : p_(std::move(p)) {
    if (!p_.component && p_.same != Params().same)
      throw ConfigError("PairData: 'same' needs classes; set 'component' to the component of the labels");
  }

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return joined_flow(
        {std::make_shared<FirstOfPair>(up, context), std::make_shared<SecondOfPair>(up, p_, context)},
        Lengths::kEqual, context, "PairData");
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, PairData, "PairData");

}  // namespace
}  // namespace tpack
