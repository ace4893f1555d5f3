#include "graph/tower_description.h"

namespace tpack {

Signature batch_specs(const TowerFunction& tower, int64_t batch) {
  Signature specs;
  for (const TowerInput& input : tower.inputs()) specs.push_back(input.batch_spec(batch));
  return specs;
}

TowerFunction::TowerFunction() = default;
TowerFunction::~TowerFunction() = default;

const TowerDescription& TowerFunction::description(Builder::Options options, const Signature& fed) const {
  const std::lock_guard lock(describing_);
  for (const auto& one : descriptions_) {
    if (one->is_for(options, fed)) return *one;
  }
  descriptions_.push_back(std::make_unique<TowerDescription>(*this, options, fed));
  return *descriptions_.back();
}

const TowerDescription& TowerFunction::description() const {
  return description({Phase::kInference, DType::kFloat32}, batch_specs(*this, 1));
}

TowerResult build_tower(Builder& b, const TowerFunction& tower, const Signature& fed,
                        const std::vector<std::string>& fetches,
                        const std::function<bool(const Statistic&)>& wanted) {
  std::map<std::string, Symbol> in;
  for (size_t i = 0; i < fed.size(); ++i) {
    const TowerInput& input = tower.inputs()[i];
    const Builder::NameScope scope(b, input.name, input.position);
    const bool image = input.layout == "CHW";  // as the graph has images
    const Symbol x = image ? b.image_input(input.name, fed[i]) : b.input(input.name, fed[i]);
    in[input.name] = input.layout == "HWC" ? b.transpose(x, {0, 3, 1, 2}) : x;
  }
  TowerResult result = tower.build(b, in);
  for (const Statistic& statistic : result.statistics) {
    if (wanted && !wanted(statistic)) continue;
    b.fetch(statistic.name + "/sum", statistic.sum);
    b.fetch(statistic.name + "/weight", statistic.weight);
  }
  std::vector<std::string> known;
  for (const auto& [name, symbol] : result.outputs) known.push_back(name);
  for (const std::string& name : fetches) {
    const auto found = result.outputs.find(name);
    if (found == result.outputs.end()) throw unknown_reference("output", name, {}, known);
    b.fetch(name, found->second);
  }
  return result;
}

}  // namespace tpack
