#include "core/registry.h"
#include "dataflow/map/map_data.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

struct MultiThreadMapDataParams {
  Part<TensorMap> map;
  ComponentRef component = "image";
  std::optional<WorkerCount> num_thread = {};
};

/// tensorpack's parallel maps: MapData that also sets the number of the flow's workers. Always keeps the
/// order and produces each sample exactly once (there: strict=True).
class MultiThreadMapData final : public Stage {
 public:
  using Params = MultiThreadMapDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs a function on one component with several threads.")
        .example(
            "MultiThreadMapData: {component: image, map: {Scale: {scale: 0.00392156862745098}}, num_thread: "
            "4}")
        .field("map", &Params::map, "the function, as in MapData")
        .required()
        .field("component", &Params::component, "the component, by name or number")
        .field("num_thread", &Params::num_thread, "threads, or auto; same as `workers` of the flow");
  }
  explicit MultiThreadMapData(Params p) : p_(std::move(p)) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    auto map = std::make_shared<map_data::MapData>(map_data::MapDataParams{p_.map, p_.component});
    return std::make_shared<MapFlow>(std::move(up), std::move(map), context);
  }
  void configure(FlowSettings& settings) const override {
    if (p_.num_thread) settings.workers = *p_.num_thread;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, MultiThreadMapData, "MultiThreadMapData", "MultiProcessMapData",
               "MultiProcessMapDataZMQ");

}  // namespace
}  // namespace tpack
