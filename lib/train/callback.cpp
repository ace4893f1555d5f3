#include "train/callback.h"

#include <algorithm>

namespace tpack {

size_t Setup::statistic(const Ref<Stat>& name) const {
  const std::vector<std::string> known = statistics();
  const auto found = std::find(known.begin(), known.end(), name.name);
  if (found == known.end())
    throw unknown_reference("statistic of the training step", name.name, name.position, known);
  return static_cast<size_t>(found - known.begin());
}

void Setup::requires_earlier(const Ref<Stat>& name, const std::string& who) const {
  if (std::find(earlier_.begin(), earlier_.end(), name.name) != earlier_.end()) return;
  ConfigError unknown = unknown_reference("statistic", name.name, name.position, earlier_);
  throw ConfigError(name.position, who + ": no callback before it gives '" + name.name +
                                       "'; put what gives it (an InferenceRunner, say) earlier in the list" +
                                       (earlier_.empty() ? "" : " (" + unknown.problems()[0].text + ")"));
}

}  // namespace tpack
