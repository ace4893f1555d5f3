#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "train/callback.h"

namespace tpack {

/// A callback with the name of its state in checkpoints.
struct NamedCallback {
  std::string name;
  std::unique_ptr<Callback> callback;
  Position position = {};
};

/// The registered name of the callback that an item of a config describes, also for an alias; for a wrapper
/// such as PeriodicTrigger, the name of the inner one. Empty if there is none.
std::string type_of_callback(const ConfigNode& item);

/// Makes the callbacks of a list of a config. Names are types with identities, "max_saver_accuracy", with
/// numbers if these are not unique.
class CallbackList {
 public:
  /// Adds to `errors` the mistakes of the item, and an error if it would undo the work of an earlier
  /// callback: an equal one, or one with the same checkpoint.
  void add(const Slot<Callback>& slot, Diagnostics& errors);
  /// The valid callbacks, in order.
  std::vector<NamedCallback> take() { return std::move(callbacks_); }

 private:
  void check_files(const Callback& callback, const ComponentItem& item, Diagnostics& errors);

  std::vector<NamedCallback> callbacks_;
  std::map<std::string, int> counts_;  // by name without number
  std::set<std::string> files_;        // checkpoints that callbacks write
};

}  // namespace tpack
