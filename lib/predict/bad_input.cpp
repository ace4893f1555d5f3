#include "predict/bad_input.h"

#include <algorithm>

#include "core/text.h"
#include "tensor/finite.h"

namespace tpack {

const std::vector<NumberedChoice>& BadInputFinder::choices() {
  if (graph_.nodes().empty()) {
    VariableTable table;
    Builder b(graph_, table, {Phase::kInference, DType::kFloat32});
    build_tower(b, tower_, batch_specs(tower_, 1), {});
    choices_ = numbered_choices(graph_, tower_);
  }
  return choices_;
}

bool BadInputFinder::has_choices() { return !choices().empty(); }

std::optional<BadInput> BadInputFinder::look_at(size_t input, const Tensor& values,
                                                const std::string& where) {
  const TowerInput& known = tower_.inputs()[input];
  const std::string called =
      "input '" + known.name + "'" + (known.position.known() ? " (" + known.position.str() + ")" : "");
  const std::string component = "component '" + known.component + "' of data." + flow_;
  const std::string bad = bad_element(values);
  if (!bad.empty())
    return BadInput{called + " has " + bad + where,
                    "it is in " + component + ": remove or replace such values"};
  const auto choice = std::find_if(choices().begin(), choices().end(), [&](const NumberedChoice& one) {
    return one.input == input && one.makes_nan;
  });
  for (int64_t i = 0; choice != choices().end() && i < values.elements(); ++i) {
    const double number = values.at(i);
    if (number >= 0 && number < static_cast<double>(choice->count)) continue;
    return BadInput{called + " has " + shortest(number) + " at " + place_of(i, values.shape()) + where +
                        ", but there are " + choice->str() + " (" + choice->node->path + ")",
                    component + " must be from 0 to " + std::to_string(choice->count - 1)};
  }
  return std::nullopt;
}

std::optional<BadInput> BadInputFinder::find(std::span<const Tensor> batch, const std::string& where) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (auto bad = look_at(i, batch[i], where)) return bad;
  }
  return std::nullopt;
}

}  // namespace tpack
