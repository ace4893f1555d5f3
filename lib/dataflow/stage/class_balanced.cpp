#include <algorithm>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "core/rng.h"
#include "dataflow/chosen_flow.h"

namespace tpack {
namespace {

struct ClassBalancedParams {
  ComponentRef component;
  int64_t samples = 0;
  int64_t in_a_row = 1;
};

/// Place q of a pass, in random order, has class q mod C; with `in_a_row`, that many consecutive places have
/// one class, and C such groups have each class once, in random order. The samples of a class are dealt like
/// cards: all of them in random order, then all again, so that each is drawn equally often, up to one.
class ClassBalancedFlow final : public ChosenFlow {
 public:
  ClassBalancedFlow(const FlowPtr& up, ClassBalancedParams p, const StageContext& context)
      : ChosenFlow(up, context, "ClassBalanced"), p_(std::move(p)) {
    if (!has_classes(p_.component)) {
      const ComponentSpec& found = spec()[spec().index(p_.component, "stage ClassBalanced")];
      throw mistake(
          "component '" + found.name + "' is " + found.tensor.str() + ", not a class number, int32 []",
          p_.component.position);
    }
  }

  int64_t places() const override { return p_.samples > 0 ? p_.samples : source_size(); }
  Place locate(const PassKey& pass, int64_t place) const override {
    const uint64_t key = pass.key(context().key);
    const auto [label, card] = deal(key, static_cast<uint64_t>(place));
    const std::vector<int64_t>& samples = by_class_[label];
    const uint64_t round = card / samples.size();
    const Permutation order(samples.size(), mix(key, mix(label + 1, round)));
    const auto repeat = pass.repeat * rounds_ + static_cast<int64_t>(round);  // for new augmentations
    return {{pass.seed, pass.pass, repeat}, samples[order(card % samples.size())]};
  }

 protected:
  void look() const override {
    const size_t index = spec().index(p_.component, "stage ClassBalanced");
    require_fixed(index);
    const std::vector<int32_t> numbers = class_numbers(source(), spec()[index].name);
    std::vector<std::vector<int64_t>> by_class;
    const auto& facts = source().part<SampleFacts>();
    int64_t bad = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0 || facts.is_bad(static_cast<int64_t>(i))) {
        ++bad;
        continue;
      }
      const auto label = static_cast<size_t>(numbers[i]);
      if (label >= by_class.size()) by_class.resize(label + 1);
      by_class[label].push_back(static_cast<int64_t>(i));
    }
    std::erase_if(by_class, [](const auto& samples) { return samples.empty(); });
    if (by_class.empty()) throw DataError("ClassBalanced: no sample has a class");
    tell_bad(bad);
    const auto smallest =
        std::min_element(by_class.begin(), by_class.end(), [](const auto& a, const auto& b) {
          return a.size() < b.size();
        })->size();
    rounds_ =
        (places() / static_cast<int64_t>(by_class.size()) + p_.in_a_row) / static_cast<int64_t>(smallest) + 1;
    by_class_ = std::move(by_class);
  }

 private:
  struct Card {
    uint64_t label;
    uint64_t number;  // among those of the class
  };
  Card deal(uint64_t key, uint64_t place) const {
    const uint64_t classes = by_class_.size();
    const auto length = static_cast<uint64_t>(p_.in_a_row);
    if (length == 1) {
      const uint64_t dealt = Permutation(static_cast<uint64_t>(places()), key)(place);
      return {dealt % classes, dealt / classes};
    }
    const uint64_t row = place / length;
    const uint64_t round = row / classes;
    return {Permutation(classes, mix(key, mix(0, round)))(row % classes), round * length + place % length};
  }

  ClassBalancedParams p_;
  mutable std::vector<std::vector<int64_t>> by_class_;  // the samples of each class that has samples
  mutable int64_t rounds_ = 1;                          // repetitions of the smallest class in one pass
};

/// Source: imbalanced-learn, RandomOverSampler and RandomUnderSampler, which choose once, before training.
class ClassBalanced final : public Stage {
 public:
  using Params = ClassBalancedParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Draws samples from the source before it so that each class is equally frequent in a pass. "
               "Samples of rare classes are repeated, each time with new random augmentations.")
        .example("ClassBalanced: label")
        .field("component", &Params::component, "the component with the class number")
        .required()
        .shorthand()
        .field("samples", &Params::samples, between(0, 1e12),
               "samples per pass; 0: as many as the source has. With the number of classes times the size of "
               "the smallest class, no sample is drawn twice")
        .field("in_a_row", &Params::in_a_row, at_least(1),
               "number of consecutive samples of one class: with 4, a batch of 32 has 8 classes, for "
               "TripletLoss; the batch size should be a multiple of it");
  }
  explicit ClassBalanced(Params p) : p_(std::move(p)) {}

  bool reorders() const override { return true; }
  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return std::make_shared<ClassBalancedFlow>(up, p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, ClassBalanced, "ClassBalanced");

}  // namespace
}  // namespace tpack
