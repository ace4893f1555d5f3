#include "graph/tower_description.h"

#include <algorithm>

namespace tpack {

TowerDescription::TowerDescription(const TowerFunction& tower, Builder::Options options, Signature fed)
    : options_(options), fed_(std::move(fed)) {
  Builder b(graph_, variables_, options_);
  built_ = build_tower(b, tower, fed_, {});
}

bool TowerDescription::is_for(const Builder::Options& options, const Signature& fed) const {
  return options.phase == options_.phase && options.float_type == options_.float_type && fed == fed_;
}

std::vector<std::pair<std::string, Symbol>> TowerDescription::outputs_in_order() const {
  std::vector<std::pair<std::string, Symbol>> ordered(outputs().begin(), outputs().end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& one, const auto& other) {
    const auto& [name, value] = one;
    return value.node->id != other.second.node->id ? value.node->id < other.second.node->id
                                                   : name.size() > other.first.size();
  });
  return ordered;
}

}  // namespace tpack
