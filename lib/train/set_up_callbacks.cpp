#include "train/set_up_callbacks.h"

#include "core/failure.h"
#include "train/follow_schedules.h"

namespace tpack {

void rethrow_for(const NamedCallback& named) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    const std::string text = "callback " + named.name + ": " + failure.text;
    if (failure.exit_code == static_cast<int>(ErrorKind::kResource)) throw ResourceError(text);
    throw InternalError(text);
  }
}

StatisticGoals set_up_callbacks(std::vector<NamedCallback>& callbacks, Trainer& trainer, Run& run) {
  std::erase_if(callbacks, [&](const NamedCallback& named) {
    return !run.is_chief() && named.callback->is_for_chief();
  });
  if (auto follow = follow_schedules(trainer))
    callbacks.insert(callbacks.begin(), NamedCallback{"schedules", std::move(follow)});
  Diagnostics errors;
  ScalarOrder scalars;
  for (const NamedCallback& named : callbacks) {
    try {
      scalars.next_callback("callback " + named.name, named.position);
      Setup setup(run, scalars);
      named.callback->set_up(setup);
    } catch (const ConfigError& error) {
      errors.add(error, named.position);
      scalars.callback_failed();
    } catch (...) {
      rethrow_for(named);
    }
  }
  std::vector<std::string> flows;
  for (const auto& [name, flow] : run.flows()) flows.push_back(name);
  if (run.is_chief()) scalars.check(flows, errors);  // the others have only some of the callbacks
  errors.throw_if_any();
  return scalars.given();
}

}  // namespace tpack
