#include "graph/images.h"

#include <algorithm>
#include <numeric>

#include "graph/op.h"

namespace tpack {
namespace {

bool may_be_image(const Symbol& value) {
  const Shape& s = value.shape();
  return s.rank() == 4 && s[0] * s[2] * s[3] > 1;
}

/// Values that are images together or not at all, as sets with a representative each.
class JoinedValues {
 public:
  explicit JoinedValues(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      first_.push_back(parent_.size());
      parent_.resize(parent_.size() + node->outputs.size());
    }
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t number(const Symbol& value) const {
    return first_[static_cast<size_t>(value.node->id)] + static_cast<size_t>(value.output);
  }
  size_t representative(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) { parent_[representative(a)] = representative(b); }
  size_t size() const { return parent_.size(); }

 private:
  std::vector<size_t> first_;  // number of a node's first output
  std::vector<size_t> parent_;
};

std::vector<Symbol> operands_that_may_be_images(const Node& node) {
  std::vector<Symbol> all = node.inputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) all.push_back(node.out(static_cast<int>(i)));
  std::erase_if(all, [](const Symbol& s) { return !may_be_image(s); });
  return all;
}

}  // namespace

Images::Images(const Graph& graph) {
  JoinedValues values(graph);
  std::vector<size_t> marked;  // by an op
  for (const auto& node : graph.nodes()) {
    const ImageOperands images = node->op->images();
    for (const int i : images.inputs) marked.push_back(values.number(node->inputs[static_cast<size_t>(i)]));
    for (const int i : images.outputs) marked.push_back(values.number(node->out(i)));
    if (!images.joined) continue;
    const std::vector<Symbol> operands = operands_that_may_be_images(*node);
    for (const Symbol& operand : operands)
      values.join(values.number(operand), values.number(operands.front()));
  }
  std::vector<bool> of_set(values.size(), false);
  for (const size_t value : marked) of_set[values.representative(value)] = true;
  for (const auto& node : graph.nodes()) {
    std::vector<bool>& outputs = is_image_.emplace_back();
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      const Symbol value = node->out(static_cast<int>(i));
      outputs.push_back(may_be_image(value) && of_set[values.representative(values.number(value))]);
    }
  }
}

bool Images::contains(const Symbol& value) const {
  return is_image_[static_cast<size_t>(value.node->id)][static_cast<size_t>(value.output)];
}

bool Images::touch(const Node& node) const {
  const auto& outputs = is_image_[static_cast<size_t>(node.id)];
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Symbol& s) { return contains(s); }) ||
         std::find(outputs.begin(), outputs.end(), true) != outputs.end();
}

}  // namespace tpack
