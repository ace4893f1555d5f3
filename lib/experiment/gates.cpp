#include "experiment/gates.h"

#include <algorithm>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "train/scalar_order.h"

namespace tpack {

void check_gates(const std::vector<Gate>& gates, const std::vector<std::string>& provided,
                 const std::vector<std::string>& flows) {
  Diagnostics errors;
  for (const Gate& gate : gates) {
    if (std::find(provided.begin(), provided.end(), gate.name) != provided.end()) continue;
    errors.add(unknown_statistic({gate.name, gate.position}, provided, flows), gate.position);
  }
  errors.throw_if_any();
}

void check_monitor_needs(const std::vector<MonitorNeed>& needs, const std::vector<std::string>& provided,
                         const std::vector<std::string>& flows) {
  Diagnostics errors;
  for (const MonitorNeed& need : needs) {
    if (std::find(provided.begin(), provided.end(), need.scalar) != provided.end()) continue;
    const ConfigError unknown = unknown_statistic({need.scalar, {}}, provided, flows);
    errors.add(need.position, need.who + ": " + unknown.problems()[0].text);
  }
  errors.throw_if_any();
}

void require_gates(const std::vector<Gate>& gates, const Monitors& monitors) {
  std::vector<std::string> missed;
  for (const Gate& gate : gates) {
    const auto figure = monitors.get_latest(gate.name);
    if (figure && gate.holds(*figure)) {
      log::info("gate " + gate.str() + " holds: " + shortest(*figure));
    } else {
      missed.push_back("gate " + gate.str() +
                       " is missed: " + (figure ? shortest(*figure) : "it has no value"));
    }
  }
  if (!missed.empty()) throw GateMissed(join(missed, "\n"));
}

}  // namespace tpack
