#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "train/callback.h"

namespace tpack {

/// A callback with the name under which checkpoints keep its state.
struct NamedCallback {
  std::string name;
  std::unique_ptr<Callback> callback;
  Position position = {};
};

/// The registered name of the callback that an item of a config describes, also of an alias; of one around
/// another callback, such as PeriodicTrigger, the name of that one. Empty if there is none.
std::string type_of_callback(const ConfigNode& item);

/// Makes the callbacks of a list of a config. Names are types with identities, "max_saver_accuracy", and with
/// numbers where these are not enough.
class CallbackList {
 public:
  /// To `errors` go the mistakes of the item, and that what a callback before it does would be undone: it is
  /// the same, or writes the same checkpoint.
  void add(const Slot<Callback>& slot, Diagnostics& errors);
  /// Those that could be made, in order.
  std::vector<NamedCallback> take() { return std::move(callbacks_); }

 private:
  void check_files(const Callback& callback, const ComponentItem& item, Diagnostics& errors);

  std::vector<NamedCallback> callbacks_;
  std::map<std::string, int> counts_;  // by name without number
  std::set<std::string> files_;        // checkpoints that callbacks write
};

}  // namespace tpack
