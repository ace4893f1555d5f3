#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/fitted_map.h"

namespace tpack {
namespace {

struct StandardizeParams {
  ComponentRef component;
};

/// y = (x - mean) / deviation for each place of the last axis: of a column of a table, of a channel of an
/// image. A place that is the same in all samples becomes 0. NaN are left out of the means, and stay. Shapes:
/// x [..., n]
/// -> y same, float32; a number alone counts as [1]. Source: scikit-learn StandardScaler; means of any size
/// of numbers: Welford 1962.
class Standardize final : public FittedMap {
 public:
  using Params = StandardizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Brings the numbers of a component to mean 0 and standard deviation 1, each column of a table "
               "or "
               "channel of an image by itself. Mean and deviation are those of data.train, for all data of "
               "the "
               "model.")
        .example("Standardize: image")
        .field("component", &Params::component, "the component, by name or number")
        .required()
        .shorthand();
  }
  explicit Standardize(Params p) : p_(std::move(p)) {}

  Spec bind(const Spec& in) override {
    index_ = in.index(p_.component, "map Standardize");
    name_ = in[index_].name;
    Spec out = in;
    out[index_].tensor.dtype = DType::kFloat32;
    out[index_].is_16_bit = false;
    return out;
  }

  void see(Datapoint& d) override {
    const Tensor& x = d.to_tensor(index_);
    if (places_.empty()) places_.resize(static_cast<size_t>(last_axis(x)));
    require_places(x);
    for (int64_t i = 0; i < x.elements(); ++i) places_[place_of(i)].add(x.at(i));
  }
  State learned() const override {
    std::vector<double> means;
    std::vector<double> deviations;
    for (size_t k = 0; k < places_.size(); ++k) {
      if (places_[k].count == 0)
        throw DataError("Standardize: place " + std::to_string(k) + " of '" + name_ +
                        "' has no number in data.train");
      means.push_back(places_[k].mean);
      deviations.push_back(std::sqrt(places_[k].squares / static_cast<double>(places_[k].count)));
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
    places_.assign(means.size(), {});
    for (size_t k = 0; k < means.size(); ++k) {
      places_[k].mean = means[k];
      places_[k].factor = deviations.at(k) > 0 ? 1 / deviations[k] : 1;
    }
  }

  bool apply(Datapoint& d, const SampleKey& /*key*/) const override {
    const Tensor x = d.to_tensor(index_);
    require_places(x);
    auto* y = d.renew(index_, {DType::kFloat32, x.shape()}).data<float>();
    for (int64_t i = 0; i < x.elements(); ++i) {
      const Of& of = places_[place_of(i)];
      y[i] = static_cast<float>((x.at(i) - of.mean) * of.factor);
    }
    return true;
  }

 private:
  struct Of {
    int64_t count = 0;
    double mean = 0;
    double squares = 0;  // sum of (x - mean)^2
    double factor = 1;   // 1 / deviation

    void add(double x) {
      if (std::isnan(x)) return;
      const double before = x - mean;
      mean += before / static_cast<double>(++count);
      squares += before * (x - mean);
    }
  };

  static int64_t last_axis(const Tensor& x) { return x.shape().rank() == 0 ? 1 : x.shape()[-1]; }
  size_t place_of(int64_t element) const { return static_cast<size_t>(element) % places_.size(); }
  void require_places(const Tensor& x) const {
    if (last_axis(x) == static_cast<int64_t>(places_.size())) return;
    throw DataError("Standardize: '" + name_ + "' is " + x.spec().str() + ", but " +
                    std::to_string(places_.size()) + " means are known");
  }

  Params p_;
  size_t index_ = 0;
  std::string name_;
  std::vector<Of> places_;
};

TPACK_REGISTER(Map, Standardize, "Standardize");

}  // namespace
}  // namespace tpack
