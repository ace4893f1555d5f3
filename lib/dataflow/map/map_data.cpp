#include "dataflow/map/map_data.h"

#include "core/error.h"

namespace tpack::map_data {

Spec MapData::bind(const Spec& in) {
  index_ = in.index(p_.component, "map MapData");
  Spec out = in;
  out[index_].tensor = p_.map->spec(in[index_].tensor);
  out[index_].depth = Depth::k8;
  out[index_].is_image =
      in[index_].is_image && out[index_].tensor.shape.rank() == in[index_].tensor.shape.rank();
  const bool has_channels =
      out[index_].is_image && out[index_].tensor.shape[-1] == in[index_].tensor.shape[-1];
  if (!has_channels) out[index_].frames = 1;
  return out;
}

bool MapData::apply(Datapoint& d, const SampleKey& /*key*/) const {
  const Tensor in = d.to_tensor(index_);
  p_.map->apply(in, d.renew(index_, p_.map->spec(in.spec())));
  return true;
}

TPACK_REGISTER(Map, MapData, "MapData", "MapDataComponent");

}  // namespace tpack::map_data
