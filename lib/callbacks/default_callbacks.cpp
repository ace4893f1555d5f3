#include "callbacks/default_callbacks.h"

namespace tpack {

ConfigNode default_callbacks() {
  return ConfigNode::list({"MovingAverageSummary", "HyperParamSummary", "ProgressBar", "EstimatedTimeLeft",
                           "ThroughputTracker", "CheckNumerics"});
}

}  // namespace tpack
