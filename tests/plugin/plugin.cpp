#include "core/plugin.h"

extern "C" __attribute__((visibility("default"))) const tpack::PluginAbi* tpack_plugin() {
  return &tpack::kPluginAbi;
}
