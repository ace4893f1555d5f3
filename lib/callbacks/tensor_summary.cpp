#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "callbacks/watched_tensors.h"
#include "monitor/histogram.h"

namespace tpack {
namespace {

enum class SummaryType : uint8_t { kMean, kRms, kMin, kMax, kSparsity, kHistogram };

}  // namespace

template <>
struct EnumNames<SummaryType> {
  static constexpr std::array<std::pair<const char*, SummaryType>, 6> kNames = {
      {{"mean", SummaryType::kMean},
       {"rms", SummaryType::kRms},
       {"min", SummaryType::kMin},
       {"max", SummaryType::kMax},
       {"sparsity", SummaryType::kSparsity},
       {"histogram", SummaryType::kHistogram}}};
};

namespace {

struct TensorSummaryParams : TensorPatterns {
  std::vector<SummaryType> types = {SummaryType::kRms, SummaryType::kHistogram};
};

const char* name_of(SummaryType type) {
  const auto& names = EnumNames<SummaryType>::kNames;
  return std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.second == type; })->first;
}

/// A figure of all elements, in double.
double figure_of(SummaryType type, const Tensor& tensor) {
  return visit(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto over_all = [&](double start, const auto& add) {
      for (const T value : tensor.span<T>()) start = add(start, static_cast<double>(value));
      return start;
    };
    const auto n = static_cast<double>(tensor.shape().elements());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (type) {
      case SummaryType::kMean:
        return over_all(0, [](double a, double x) { return a + x; }) / n;
      case SummaryType::kRms:
        return std::sqrt(over_all(0, [](double a, double x) { return a + x * x; }) / n);
      case SummaryType::kMin:
        return over_all(kInfinity, [](double a, double x) { return x < a || std::isnan(x) ? x : a; });
      case SummaryType::kMax:
        return over_all(-kInfinity, [](double a, double x) { return x > a || std::isnan(x) ? x : a; });
      case SummaryType::kSparsity:
        return over_all(0, [](double a, double x) { return a + (x == 0 ? 1 : 0); }) / n;
      case SummaryType::kHistogram:
        break;
    }
    return 0.0;
  });
}

/// Source: tensorpack tfutils/summary.py: add_tensor_summary, add_activation_summary, add_param_summary; and
/// tfutils/gradproc.py: SummaryGradient.
class TensorSummary final : public Callback {
 public:
  using Params = TensorSummaryParams;
  static Schema<Params> schema() {
    return watching(Schema<Params>("Reports statistics of layer outputs, variables and gradients, as scalars "
                                   "NAME-mean, NAME-rms, ..., for gradients gradient/NAME-rms, and "
                                   "histograms for TensorBoard. It does not affect training."))
        .example("TensorSummary: {outputs: [fc.*], gradients: [.*/W], types: [rms, sparsity]}")
        .field("types", &Params::types,
               "rms is the root of the mean square, sparsity the share of elements that are zero");
  }
  explicit TensorSummary(Params p) : p_(std::move(p)) {}

  void setup(Setup& setup) override {
    tensors_ = std::make_unique<WatchedTensors>(setup, p_);
    for (const std::string& name : tensors_->names()) {
      for (const SummaryType type : p_.types) {
        if (type != SummaryType::kHistogram) setup.provides(scalar_name(name, type));
      }
    }
  }
  void compile(Run& /*run*/) override { tensors_->compile(); }
  void trigger(Run& run) override {
    if (!tensors_->compute()) return;
    for (size_t i = 0; i < tensors_->names().size(); ++i) {
      const std::string& name = tensors_->names()[i];
      const std::optional<Tensor> value = tensors_->value(i);
      if (!value || value->elements() == 0) continue;
      for (const SummaryType type : p_.types) {
        if (type == SummaryType::kHistogram) {
          run.monitors().put_histogram(name, histogram_of(*value));
        } else {
          run.monitors().put_scalar(scalar_name(name, type), figure_of(type, *value));
        }
      }
    }
  }
  void save(State& state) const override { tensors_->save(state); }
  void load(const State& state) override { tensors_->load(state); }

 private:
  static std::string scalar_name(const std::string& name, SummaryType type) {
    return name + "-" + name_of(type);
  }

  Params p_;
  std::unique_ptr<WatchedTensors> tensors_;
};

TPACK_REGISTER(Callback, TensorSummary, "TensorSummary");

}  // namespace
}  // namespace tpack
