#include <memory>
#include <mutex>
#include <string>

#include "backend/engine/engine_device.h"
#include "backend/open_device.h"
#include "cpu/library.h"
#include "cpu/onednn/onednn.h"
#include "cpu/team.h"
#include "system/log.h"

namespace tpack::cpu {
namespace {

/// Products of rounded factors in float32.
void warn_of_widening(DType type) {
  static std::once_flag once;
  std::call_once(once, [type] {
    log::warning(
        std::string("engine.precision: tpack has no products in ") + tpack::name_of(type) +
        " for this processor; it rounds the factors and computes in float32, which is slower than fp32");
  });
}

std::unique_ptr<Device> open_cpu(const std::string& name, const DeviceOptions& options) {
  if (options.float_type != DType::kFloat32)
    throw ConfigError("the cpu backend computes in float32; use engine: {backend: reference} for float64");
  const DType factors = factor_type(options.precision);
  if (factors != DType::kFloat32 && !has_products_of(factors)) warn_of_widening(factors);
  const int threads = options.threads;
  return make_engine_device(name, options,
                            {.library = make_library(options.precision),
                             // Its threads run where the thread that computes is bound.
                             .open_queue = [threads] { return std::make_unique<Team>(threads); }});
}

const DeviceKind kCpu("cpu", open_cpu, DeviceKind::Number::kPart);

}  // namespace
}  // namespace tpack::cpu
