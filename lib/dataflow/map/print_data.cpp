#include <algorithm>
#include <atomic>

#include "core/registry.h"
#include "core/text.h"
#include "dataflow/map.h"
#include "system/log.h"

namespace tpack {
namespace {

std::string describe(Datapoint& d, size_t i) {
  if (d.is_image(i) && d.image(i).encoded()) {
    return "encoded image " + d.image(i).size().str() + " with " + std::to_string(d.image(i).channels()) +
           " channels";
  }
  if (d.is_image(i)) return "image " + d.image(i).size().str();
  const Tensor& tensor = d.tensor(i);
  if (tensor.elements() == 0) return tensor.spec().str();
  double least = tensor.at(0);
  double most = least;
  for (int64_t k = 1; k < tensor.elements(); ++k) {
    least = std::min(least, tensor.at(k));
    most = std::max(most, tensor.at(k));
  }
  return tensor.spec().str() + " from " + shortest(least) + " to " + shortest(most);
}

struct PrintDataParams {
  int num = 1;
  std::string name;
};

/// Source: tensorpack dataflow/common.py, PrintData.
class PrintData final : public Map {
 public:
  using Params = PrintDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Logs type, shape and range of the first datapoints; does not change them.")
        .example("PrintData: {num: 2, name: train}")
        .field("num", &Params::num, at_least(0), "datapoints to log")
        .field("name", &Params::name, "prefix of each line");
  }
  explicit PrintData(Params p) : p_(std::move(p)), left_(p_.num) {}

  Spec bind(const Spec& in) override {
    for (const ComponentSpec& component : in) names_.push_back(component.name);
    return in;
  }
  bool apply(Datapoint& d, const SampleKey& key) const override {
    if (left_.load(std::memory_order_relaxed) <= 0 || left_.fetch_sub(1) <= 0) return true;
    std::string text = (p_.name.empty() ? "" : p_.name + ": ") + key.id.str();
    for (size_t i = 0; i < d.size(); ++i) text += "; " + names_[i] + ": " + describe(d, i);
    log::info(text);
    return true;
  }

 private:
  Params p_;
  std::vector<std::string> names_;
  mutable std::atomic<int> left_;
};

TPACK_REGISTER(Map, PrintData, "PrintData");

}  // namespace
}  // namespace tpack
