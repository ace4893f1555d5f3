#include "graph/graph.h"

#include <tuple>

#include "graph/op.h"

namespace tpack {

bool Symbol::operator<(const Symbol& other) const {
  const int mine = node == nullptr ? -1 : node->id;
  const int theirs = other.node == nullptr ? -1 : other.node->id;
  return std::tie(mine, output) < std::tie(theirs, other.output);
}

std::vector<TensorSpec> specs_of(std::span<const Symbol> symbols) {
  std::vector<TensorSpec> specs;
  for (const Symbol& symbol : symbols) specs.push_back(symbol.spec());
  return specs;
}

const TensorSpec& Symbol::spec() const { return node->outputs[static_cast<size_t>(output)]; }

const Node& Graph::add(std::shared_ptr<const Op> op, std::vector<Symbol> inputs, std::string path,
                       Position origin) {
  std::vector<TensorSpec> specs;
  for (const Symbol& input : inputs) specs.push_back(input.spec());
  auto node = std::make_unique<Node>();
  node->outputs = op->infer(specs);
  for (const TensorSpec& out : node->outputs) {
    if (out.shape.known()) out.shape.elements();  // what is too large is rejected where it comes from
  }
  node->id = static_cast<int>(nodes_.size());
  node->op = std::move(op);
  node->inputs = std::move(inputs);
  node->path = std::move(path);
  node->origin = std::move(origin);
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::assign(std::string variable, Symbol value) {
  if (!assigned_.insert(variable).second)
    std::erase_if(assignments_, [&](const Assignment& a) { return a.variable == variable; });
  assignments_.push_back({std::move(variable), value});
}

std::vector<Symbol> Graph::roots() const {
  std::vector<Symbol> all;
  for (const Fetch& fetch : fetches_) all.push_back(fetch.value);
  for (const Assignment& assignment : assignments_) all.push_back(assignment.value);
  return all;
}

std::vector<bool> Graph::needed_for(std::span<const Symbol> values) const {
  std::vector<bool> needed(nodes_.size());
  for (const Symbol& root : values) needed[static_cast<size_t>(root.node->id)] = true;
  for (size_t id = nodes_.size(); id-- > 0;) {
    if (!needed[id]) continue;
    for (const Symbol& input : nodes_[id]->inputs) needed[static_cast<size_t>(input.node->id)] = true;
  }
  return needed;
}

std::vector<std::vector<const Node*>> Graph::users() const {
  std::vector<std::vector<const Node*>> users(nodes_.size());
  for (const auto& node : nodes_) {
    for (const Symbol& input : node->inputs) {
      auto& list = users[static_cast<size_t>(input.node->id)];
      if (list.empty() || list.back() != node.get()) list.push_back(node.get());
    }
  }
  return users;
}

std::string Graph::str() const {
  std::string text;
  for (const auto& node : nodes_) {
    text += "%" + std::to_string(node->id) + " = " + node->op->key() + "(";
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Symbol& input = node->inputs[i];
      text += (i > 0 ? ", %" : "%") + std::to_string(input.node->id);
      if (input.output > 0) text += "." + std::to_string(input.output);
    }
    text += ") -> ";
    for (size_t i = 0; i < node->outputs.size(); ++i) text += (i > 0 ? ", " : "") + node->outputs[i].str();
    text += "  # " + node->path + "\n";
  }
  for (const Fetch& fetch : fetches_)
    text += "fetch " + fetch.name + " = %" + std::to_string(fetch.value.node->id) + "\n";
  for (const Assignment& a : assignments_)
    text += "assign " + a.variable + " = %" + std::to_string(a.value.node->id) + "\n";
  return text;
}

std::vector<Symbol> Op::gradient(Builder& /*b*/, const Node& n, std::span<const Symbol> /*dy*/) const {
  return std::vector<Symbol>(n.inputs.size());
}

void check_float(const TensorSpec& spec, const char* what) {
  if (is_float(spec.dtype)) return;
  throw ShapeError(std::string(what) + " must be float, not " + spec.str() +
                   "; put a Normalize layer before it");
}

std::vector<Symbol> Op::decompose(Builder& /*b*/, const Node& /*n*/) const { return {}; }

double Op::flops(const Node& /*n*/) const { return 0; }

Graph copy_of(const Graph& graph) {
  Graph copy;
  std::vector<const Node*> twins;
  const auto mapped = [&](Symbol s) { return twins[static_cast<size_t>(s.node->id)]->out(s.output); };
  for (const auto& node : graph.nodes()) {
    std::vector<Symbol> inputs;
    for (const Symbol& s : node->inputs) inputs.push_back(mapped(s));
    twins.push_back(&copy.add(node->op, inputs, node->path, node->origin));
  }
  for (const Fetch& fetch : graph.fetches()) copy.fetch(fetch.name, mapped(fetch.value));
  for (const Assignment& a : graph.assignments()) copy.assign(a.variable, mapped(a.value));
  return copy;
}

}  // namespace tpack
