#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/chosen_flow.h"

namespace tpack {
namespace {

struct ClassWeight {
  std::string name;
  Position position;
  double weight = 1;
};

}  // namespace

template <>
struct Codec<std::vector<ClassWeight>> {
  static FieldType type() { return FieldType::map_of(FieldType::number(), "weights by class"); }
  static std::optional<std::vector<ClassWeight>> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_map()) {
      reader.wrong_type(node, "weights by class, such as {yes: 5}");
      return std::nullopt;
    }
    std::vector<ClassWeight> all;
    for (const auto& [name, value, position] : node.entries()) {
      const bool is_weight = value.is_number() && value.as_double() >= 0 && std::isfinite(value.as_double());
      if (is_weight)
        all.push_back({name, position, value.as_double()});
      else
        reader.wrong_type(value, "a weight of at least 0");
    }
    return all.size() == node.size() ? std::optional(std::move(all)) : std::nullopt;
  }
  static ConfigNode dump(const std::vector<ClassWeight>& all) {
    std::vector<ConfigNode::Entry> entries;
    for (const ClassWeight& one : all) entries.push_back({one.name, one.weight});
    return ConfigNode::map(std::move(entries));
  }
};

namespace {

struct WeightedSamplingParams {
  ComponentRef component;
  std::vector<ClassWeight> weights;
  bool replacement = true;
  int64_t samples = 0;
};

/// With replacement, places draw independently. Without, the samples of a pass are those with the smallest
/// E_i / w_i, E_i exponentially distributed. Source: Efraimidis & Spirakis 2006, "Weighted random sampling
/// with a reservoir".
class WeightedFlow final : public ChosenFlow {
 public:
  WeightedFlow(const FlowPtr& up, WeightedSamplingParams p, const StageContext& context)
      : ChosenFlow(up, context, "WeightedSampling"),
        p_(std::move(p)),
        index_(spec().index(p_.component, kOwner)) {
    const ComponentSpec& found = spec()[index_];
    const std::string text = "component '" + found.name + "' ";
    if (!p_.weights.empty() && !has_classes(p_.component))
      throw mistake(text + "is " + found.tensor.str() +
                        ", not a class number, int32 []; 'weights' applies only to classes",
                    p_.component.position);
    if (p_.weights.empty() && !found.classes.empty())
      throw mistake(text + "is a class; set weights of classes, such as weights: {" + found.classes[0] +
                        ": 5}, or draw all classes equally often with ClassBalanced: " + found.name,
                    p_.component.position);
    if (p_.weights.empty() && (found.is_image || found.tensor.shape.rank() > 0))
      throw mistake(text + "is " + found.tensor.str() + ", not one number, the weight of the sample",
                    p_.component.position);
  }

  int64_t places() const override {
    if (p_.samples > 0) return p_.samples;
    return p_.replacement || sums_.empty() ? source_size() : positive_;
  }
  Place locate(const PassKey& pass, int64_t place) const override {
    const uint64_t key = pass.key(context().key);
    if (!p_.replacement) return {pass, (*choice(key))[static_cast<size_t>(place)]};
    const double at = Rng(key, static_cast<uint64_t>(place)).uniform64() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    const auto last =
        std::lower_bound(sums_.begin(), sums_.end(), sums_.back());             // rounding may return the sum
    const PassKey drawn{pass.seed, pass.pass, pass.repeat * places() + place};  // for new augmentations
    return {drawn, std::min(found, last) - sums_.begin()};
  }

 protected:
  void look() const override {
    require_fixed(index_);
    std::vector<double> weights = p_.weights.empty() ? of_component() : of_classes();
    positive_ = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (positive_ == 0) throw mistake("no sample has a weight above 0");
    if (!p_.replacement && p_.samples > positive_)
      throw mistake("'samples' is " + with_thousands(p_.samples) + ", but only " + with_thousands(positive_) +
                    " samples have a weight above 0; lower it, or set replacement: true");
    weights_ = weights;
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    if (!std::isfinite(weights.back())) throw mistake("the weights are too large to be summed");
    sums_ = std::move(weights);
  }

 private:
  static constexpr const char* kOwner = "stage WeightedSampling";
  static constexpr size_t kMaxChoices = 4;  // kept passes: those read at the same time
  using Choice = std::shared_ptr<const std::vector<int64_t>>;

  std::vector<double> of_classes() const {
    const std::vector<std::string>& names = spec()[index_].classes;
    const std::vector<int32_t> numbers = class_numbers(source(), spec()[index_].name);
    const auto last = std::max_element(numbers.begin(), numbers.end());
    std::vector<double> of_class(last == numbers.end() ? size_t{0} : static_cast<size_t>(*last) + 1, 1);
    for (const ClassWeight& one : p_.weights) {
      const size_t label = label_of(one, names, of_class.size());
      if (label < of_class.size()) of_class[label] = one.weight;
    }
    std::vector<double> weights;
    for (const int32_t number : numbers)
      weights.push_back(number < 0 ? 0 : of_class[static_cast<size_t>(number)]);
    return without_bad(std::move(weights),
                       std::count_if(numbers.begin(), numbers.end(), [](int32_t n) { return n < 0; }));
  }
  size_t label_of(const ClassWeight& one, const std::vector<std::string>& names, size_t classes) const {
    const auto found = std::find(names.begin(), names.end(), one.name);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    if (!names.empty())
      throw mistake("unknown class '" + one.name + "' of '" + spec()[index_].name + "'" +
                        did_you_mean(one.name, names) + "; it has " + join_first(names),
                    one.position);
    const ConfigNode number = ConfigNode::plain(one.name, {});
    const bool is_label = number.kind() == ConfigNode::Kind::kInt && number.as_int() >= 0 &&
                          std::cmp_less(number.as_int(), classes);
    if (!is_label)
      throw mistake("unknown class '" + one.name + "' of '" + spec()[index_].name +
                        "'; its classes have no names; use numbers from 0 to " + std::to_string(classes - 1),
                    one.position);
    return static_cast<size_t>(number.as_int());
  }

  std::vector<double> of_component() const {
    std::vector<double> weights;
    int64_t bad = 0;
    Datapoint d;
    for (int64_t i = 0; i < source_size(); ++i) {
      d.resize(spec().size());
      try {
        source().get(i, {}, d);
      } catch (const DataError&) {
        weights.push_back(0);
        ++bad;
        continue;
      }
      const double weight = d.to_tensor(index_).at(0);
      if (!(weight >= 0 && std::isfinite(weight)))
        throw DataError("WeightedSampling: sample " + std::to_string(i) + " has the weight " +
                        (std::isnan(weight) ? "nan" : shortest(weight)) + "; must be at least 0");
      weights.push_back(weight);
    }
    return without_bad(std::move(weights), bad);
  }

  /// Known bad samples are not drawn; `bad` of them already have no weight.
  std::vector<double> without_bad(std::vector<double> weights, int64_t bad) const {
    const auto& facts = source().part<SampleFacts>();
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0 || !facts.is_bad(static_cast<int64_t>(i))) continue;
      weights[i] = 0;
      ++bad;
    }
    tell_bad(bad);
    return weights;
  }

  /// The samples of a pass without replacement, in random order.
  Choice choice(uint64_t key) const {
    const std::lock_guard lock(choosing_);
    for (const auto& [of, chosen] : choices_)
      if (of == key) return chosen;
    if (choices_.size() == kMaxChoices) choices_.pop_front();
    choices_.emplace_back(key, std::make_shared<const std::vector<int64_t>>(choose(key)));
    return choices_.back().second;
  }
  std::vector<int64_t> choose(uint64_t key) const {
    std::vector<std::pair<double, int64_t>> order;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] > 0)
        order.emplace_back(-std::log1p(-Rng(key, i).uniform64()) / weights_[i], static_cast<int64_t>(i));
    }
    const auto kept = static_cast<size_t>(places());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end());
    const Permutation places(kept, mix(key, 1));  // heavy samples would come first
    std::vector<int64_t> chosen(kept);
    for (size_t i = 0; i < kept; ++i) chosen[places(i)] = order[i].second;
    return chosen;
  }

  WeightedSamplingParams p_;
  size_t index_;
  mutable std::vector<double> weights_;  // of all samples of the source
  mutable std::vector<double> sums_;     // sums of the weights up to each sample
  mutable int64_t positive_ = 0;         // samples with a weight above 0
  mutable std::mutex choosing_;
  mutable std::deque<std::pair<uint64_t, Choice>> choices_;  // by the key of the pass
};

/// Source: torch.utils.data, WeightedRandomSampler.
class WeightedSampling final : public Stage {
 public:
  using Params = WeightedSamplingParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Draws samples from the source before it in proportion to their weights, with new random "
               "draws in each pass.")
        .example("WeightedSampling: {component: label, weights: {yes: 5}}")
        .field("component", &Params::component,
               "the class number, if `weights` is set; else the weight of the sample itself, at least 0")
        .required()
        .shorthand()
        .field("weights", &Params::weights,
               "weights by class name, or by class number for classes without names; other classes have "
               "weight 1")
        .field("replacement", &Params::replacement,
               "true: each draw is from all samples; false: no sample is drawn twice in a pass, so weights "
               "matter only if `samples` is less than the size of the source")
        .field("samples", &Params::samples, between(0, 1e12),
               "samples per pass; 0: as many as the source has; samples of weight 0 do not count if "
               "`replacement` is false");
  }
  explicit WeightedSampling(Params p) : p_(std::move(p)) {}

  bool reorders() const override { return true; }
  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return std::make_shared<WeightedFlow>(up, p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, WeightedSampling, "WeightedSampling");

}  // namespace
}  // namespace tpack
