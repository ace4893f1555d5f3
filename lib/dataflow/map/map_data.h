#pragma once

#include "core/registry.h"
#include "dataflow/map.h"
#include "dataflow/map/tensor_map.h"

namespace tpack::map_data {

struct MapDataParams {
  Part<TensorMap> map;
  ComponentRef component = "image";
};

/// Source: tensorpack dataflow/common.py, MapData and MapDataComponent; here, functions are components with a
/// name.
class MapData final : public Map {
 public:
  using Params = MapDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs a function on one component.")
        .example("MapData: {component: label, map: {OneHot: 10}}")
        .field("map", &Params::map, "the function, such as Scale: {scale: 0.00390625}")
        .required()
        .field("component", &Params::component, "the component, by name or number");
  }
  explicit MapData(Params p) : p_(std::move(p)) {
    if (!p_.map)
      throw ConfigError("MapData: 'map' is empty; name a function, such as Cast: {dtype: float32}");
  }

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    return needed_if_wanted(p_.component, std::move(wanted));
  }
  Spec bind(const Spec& in) override;
  bool apply(Datapoint& d, const SampleKey& key) const override;

 private:
  Params p_;
  size_t index_ = 0;
};

}  // namespace tpack::map_data
