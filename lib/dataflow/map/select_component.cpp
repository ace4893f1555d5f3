#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map.h"

namespace tpack {
namespace {

struct SelectComponentParams {
  std::vector<ComponentRef> components;
};

/// Source: tensorpack dataflow/common.py, SelectComponent (there `idxs`).
class SelectComponent final : public Map {
 public:
  using Params = SelectComponentParams;
  static Schema<Params> schema() {
    return Schema<Params>("Keeps some components, in the order given.")
        .example("SelectComponent: [image]")
        .field("components", &Params::components, "names, or numbers from 0")
        .required()
        .shorthand();
  }
  explicit SelectComponent(Params p) : p_(std::move(p)) {
    if (p_.components.empty()) throw ConfigError("SelectComponent: 'components' is empty; name at least one");
  }

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    std::erase_if(p_.components, [&](const ComponentRef& ref) { return !needed_if_wanted(ref, wanted); });
    return wanted;
  }
  Spec bind(const Spec& in) override {
    std::vector<ComponentSpec> kept;
    for (const ComponentRef& ref : p_.components) {
      indices_.push_back(in.index(ref, "map SelectComponent"));
      kept.push_back(in[indices_.back()]);
      for (size_t i = 0; i + 1 < indices_.size(); ++i) {
        if (indices_[i] != indices_.back()) continue;
        throw ConfigError(ref.position, "map SelectComponent: '" + kept.back().name + "' is named twice");
      }
    }
    return Spec(std::move(kept));
  }
  bool apply(Datapoint& d, const SampleKey& /*key*/) const override {
    d.select(indices_);
    return true;
  }

 private:
  Params p_;
  std::vector<size_t> indices_;
};

TPACK_REGISTER(Map, SelectComponent, "SelectComponent");

}  // namespace
}  // namespace tpack
