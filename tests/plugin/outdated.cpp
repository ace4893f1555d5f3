// A plugin built against headers of another version: must be refused.
#include "core/plugin.h"

extern "C" __attribute__((visibility("default"))) const tpack::PluginAbi* tpack_plugin() {
  static constexpr tpack::PluginAbi kOld{tpack::kPluginVersion - 1, 1, sizeof(std::string),
                                         "an old compiler"};
  return &kOld;
}
