// A plugin built against headers of another version: it must be rejected before any of its code runs.
#include <cstdlib>

#include "core/plugin.h"

namespace {

struct Registration {
  Registration() {
    tpack::PluginInterface<tpack::kPluginVersion - 1>::needed();
    std::abort();
  }
};
const Registration kRegistration;

}  // namespace

extern "C" __attribute__((visibility("default"))) const tpack::PluginAbi* tpack_plugin() {
  static constexpr tpack::PluginAbi kOld{tpack::kPluginVersion - 1, 1, sizeof(std::string),
                                         "an old compiler"};
  return &kOld;
}
