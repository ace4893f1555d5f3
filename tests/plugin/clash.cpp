// A plugin with a component name that tpack already has: it must be rejected, naming both files.
#include "core/plugin.h"
#include "model/layer.h"

namespace tpack {
namespace {

class OtherRelu final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Takes the name of another layer."); }
  explicit OtherRelu(Params /*p*/) {}
  Symbol build(Builder& /*b*/, Symbol x) const override { return x; }
};

TPACK_REGISTER(Layer, OtherRelu, "ReLU");

}  // namespace
}  // namespace tpack

extern "C" __attribute__((visibility("default"))) const tpack::PluginAbi* tpack_plugin() {
  return &tpack::kPluginAbi;
}
