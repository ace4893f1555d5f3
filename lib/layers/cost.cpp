#include "layers/cost.h"

#include "core/text.h"

namespace tpack {

std::vector<Symbol> ModelView::trainable(const Ref<Variable>& pattern) const {
  std::vector<Symbol> found;
  std::vector<std::string> known;
  try {
    for (const VariableSpec* spec : builder_.variables().trainable()) {
      known.push_back(spec->name);
      if (full_match(spec->name, pattern.name)) found.push_back(builder_.read(spec->name, spec->spec));
    }
  } catch (const ConfigError& error) {
    throw ConfigError(pattern.position, error.what());
  }
  if (found.empty() && !network_.complete()) throw AlreadyReported();
  if (found.empty()) {
    throw ConfigError(pattern.position, "no trainable variable matches '" + pattern.name +
                                            "' (the whole name counts); known: " + join(known, ", "));
  }
  return found;
}

}  // namespace tpack
