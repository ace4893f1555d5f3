#include "model/network.h"

namespace tpack {

void BlockNotes::add(const ConfigError& error, const std::vector<BlockUse>& uses, const Position& fallback,
                     Diagnostics& errors) {
  const std::vector<BlockUse> innermost_first(uses.rbegin(), uses.rend());
  for (const Problem& problem : error.problems()) {
    std::string text = problem.text;
    for (const BlockUse& use : innermost_first) {
      const std::string note = " (in " + use.name + ", used at " + use.position.str() + ")";
      const bool calls_itself = text.find(note) != std::string::npos;
      if (!calls_itself) text += note;
    }
    if (text != problem.text && !seen_.insert(problem.str()).second) continue;
    errors.add(problem.where.known() ? problem.where : fallback, std::move(text));
  }
}

}  // namespace tpack
