#include "dataflow/count_classes.h"

#include <utility>

namespace tpack {

std::vector<SourceFacts::Class> count_classes(const std::vector<std::string>& names,
                                              std::span<const int32_t> numbers) {
  std::vector<SourceFacts::Class> classes;
  for (const std::string& name : names) classes.push_back({name, 0});
  for (const int32_t number : numbers) {
    if (number < 0) continue;
    const auto label = static_cast<size_t>(number);
    if (names.empty() && label >= classes.size()) classes.resize(label + 1);
    if (label < classes.size()) ++classes[label].samples;
  }
  return classes;
}

}  // namespace tpack
