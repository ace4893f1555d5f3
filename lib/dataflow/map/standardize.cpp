#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/fitted_map.h"
#include "dataflow/moments.h"

namespace tpack {
namespace {

struct StandardizeParams {
  ComponentRef component;
  int64_t axis = -1;
};

/// y = (x - mean) / deviation for each index of an axis: a column of a table, a channel of an image. An index
/// with the same value in all samples becomes 0. NaN do not count in the means, and stay. Shapes: x any -> y
/// same, float32; a single number is one index. Source: scikit-learn StandardScaler; stable means: Welford
/// 1962.
class Standardize final : public FittedMap {
 public:
  using Params = StandardizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Scales the numbers of a component to mean 0 and standard deviation 1, separately for each "
               "column of a table or channel of an image. The mean and deviation of data.train are used for "
               "all data of the model.")
        .example("Standardize: image")
        .field("component", &Params::component, "the component, by name or number")
        .required()
        .shorthand()
        .field("axis", &Params::axis,
               "axis with one mean and deviation per index: -1, the last one, for the columns of a table or "
               "the channels of [height, width, channels]; 0 for the channels of [channels, height, width]");
  }
  explicit Standardize(Params p) : p_(std::move(p)) {}

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    return needed_if_wanted(p_.component, std::move(wanted));
  }
  Spec bind(const Spec& in) override {
    index_ = in.index(p_.component, "map Standardize");
    name_ = in[index_].name;
    Spec out = in;
    out[index_].tensor.dtype = DType::kFloat32;
    out[index_].depth = Depth::k8;
    return out;
  }

  std::string component() const override { return name_; }
  void see(Datapoint& d) override {
    const Tensor& x = d.to_tensor(index_);
    if (places_.empty()) places_.resize(static_cast<size_t>(places_of(x)));
    require_places(x);
    each(x, [&](int64_t /*element*/, size_t place, double value) { places_[place].add(value); });
  }
  State learned() const override {
    std::vector<double> means;
    std::vector<double> deviations;
    for (size_t k = 0; k < places_.size(); ++k) {
      if (places_[k].count == 0)
        throw DataError("Standardize: index " + std::to_string(k) + " of '" + name_ +
                        "' has no number in data.train");
      if (!std::isfinite(places_[k].squares))
        throw DataError("Standardize: index " + std::to_string(k) + " of '" + name_ +
                        "' has numbers in data.train that are not finite or too large; remove such values");
      means.push_back(places_[k].mean);
      deviations.push_back(places_[k].deviation());
    }
    if (means.empty()) throw DataError("Standardize: data.train has no samples");
    State state;
    state.put("mean", means);
    state.put("deviation", deviations);
    return state;
  }
  void use(const State& learned) override {
    const auto means = learned.get<std::vector<double>>("mean");
    const auto deviations = learned.get<std::vector<double>>("deviation");
    if (means.empty() || means.size() != deviations.size())
      throw CheckpointError("", "the means of Standardize are damaged");
    places_.assign(means.size(), {});
    for (size_t k = 0; k < means.size(); ++k) {
      places_[k].mean = means[k];
      places_[k].factor = deviations[k] > 0 ? 1 / deviations[k] : 1;
    }
  }

  bool apply(Datapoint& d, const SampleKey& /*key*/) const override {
    const Tensor x = d.to_tensor(index_);
    require_places(x);
    auto* y = d.renew(index_, {DType::kFloat32, x.shape()}).data<float>();
    each(x, [&](int64_t element, size_t place, double value) {
      y[element] = static_cast<float>((value - places_[place].mean) * places_[place].factor);
    });
    return true;
  }

 private:
  struct Place : Moments {
    double factor = 1;  // 1 / deviation
  };

  int64_t places_of(const Tensor& x) const {
    const auto rank = static_cast<int64_t>(x.shape().rank());
    if (rank == 0) return 1;
    if (p_.axis >= rank || p_.axis < -rank)
      throw DataError("Standardize: '" + name_ + "' is " + x.spec().str() + ", which has no axis " +
                      std::to_string(p_.axis));
    return x.shape()[static_cast<int>(p_.axis)];
  }
  /// Elements from one index of the axis to the next.
  int64_t step_of(const Tensor& x) const {
    const auto rank = static_cast<int>(x.shape().rank());
    int64_t step = 1;
    for (int axis = static_cast<int>(p_.axis < 0 ? p_.axis + rank : p_.axis) + 1; axis < rank; ++axis)
      step *= x.shape()[axis];
    return step;
  }
  /// Calls f(element, place, value) for each element, in order.
  template <class F>
  void each(const Tensor& x, const F& f) const {
    const int64_t step = step_of(x);
    visit(x.dtype(), [&](auto zero) {
      const auto* values = x.data<decltype(zero)>();
      for (int64_t i = 0; i < x.elements();) {
        for (size_t place = 0; place < places_.size(); ++place) {
          for (int64_t k = 0; k < step; ++k, ++i) f(i, place, static_cast<double>(values[i]));
        }
      }
    });
  }
  void require_places(const Tensor& x) const {
    if (places_of(x) == static_cast<int64_t>(places_.size())) return;
    throw DataError("Standardize: '" + name_ + "' is " + x.spec().str() + ", but " +
                    std::to_string(places_.size()) + " means are known");
  }

  Params p_;
  size_t index_ = 0;
  std::string name_;
  std::vector<Place> places_;
};

TPACK_REGISTER(Map, Standardize, "Standardize");

}  // namespace
}  // namespace tpack
