#include "train/scalar_order.h"

namespace tpack {

void ScalarOrder::provides(const std::string& name, When when) {
  const auto [at, is_new] = sources_.try_emplace(name, Source{current_, when});
  if (!is_new && when == When::kStep) at->second.when = when;
}

std::vector<std::string> ScalarOrder::names() const {
  std::vector<std::string> all;
  for (const auto& [name, source] : sources_) all.push_back(name);
  return all;
}

void ScalarOrder::check(Diagnostics& errors) const {
  for (const Need& need : needs_) check(need, errors);
}

void ScalarOrder::check(const Need& need, Diagnostics& errors) const {
  const auto found = sources_.find(need.scalar.name);
  if (found == sources_.end()) {
    if (!is_complete_) return;
    const ConfigError unknown = unknown_reference("statistic", need.scalar.name, {}, names());
    errors.add(need.scalar.position, need.who + ": " + unknown.problems()[0].text);
    return;
  }
  if (found->second.when == When::kStep || found->second.callback < need.callback) return;
  errors.add(need.scalar.position, need.who + ": '" + need.scalar.name +
                                       "' is reported by a callback later in the list; move that callback "
                                       "before this one");
}

}  // namespace tpack
