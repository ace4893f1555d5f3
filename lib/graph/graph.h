#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/position.h"
#include "tensor/tensor.h"

namespace tpack {

/// Specs of the inputs of a graph, in order.
using Signature = std::vector<TensorSpec>;

class Op;
struct Node;

/// One output of a node. Layers take and return symbols. Empty: no value, for example no gradient.
struct Symbol {
  const Node* node = nullptr;
  int output = 0;

  explicit operator bool() const { return node != nullptr; }
  bool operator==(const Symbol&) const = default;
  bool operator<(const Symbol& other) const;  // by node id, then output
  const TensorSpec& spec() const;
  const Shape& shape() const { return spec().shape; }
  DType dtype() const { return spec().dtype; }
};

std::vector<TensorSpec> specs_of(std::span<const Symbol> symbols);

/// One application of an op. Immutable once it is in a graph.
struct Node {
  int id = 0;  // position in its graph; inputs have smaller ones
  std::shared_ptr<const Op> op;
  std::vector<Symbol> inputs;
  std::vector<TensorSpec> outputs;
  std::string path;  // "conv0/Convolution": unique in its graph and the same for every build of it
  Position origin;   // of the layer that emitted it

  Symbol out(int i = 0) const { return {this, i}; }
};

/// A named value that a program returns.
struct Fetch {
  std::string name;
  Symbol value;
};

/// `value` becomes the variable's value when the program ends.
struct Assignment {
  std::string variable;
  Symbol value;
};

/// A static dataflow graph: nodes in an order in which inputs come first, what is fed, fetched and assigned.
/// Threads: building needs one thread at a time; a finished graph may be read by all.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  /// Adds a node; shapes come from op->infer. Errors: ShapeError (without position: the Builder adds it).
  const Node& add(std::shared_ptr<const Op> op, std::vector<Symbol> inputs, std::string path,
                  Position origin);
  void fetch(std::string name, Symbol value) { fetches_.push_back({std::move(name), value}); }
  /// Replaces an earlier assignment to that variable.
  void assign(std::string variable, Symbol value);

  /// Removes the assignments for which `keep` is false.
  void keep_assignments(const std::function<bool(const Assignment&)>& keep) {
    std::erase_if(assignments_, [&](const Assignment& a) { return !keep(a); });
  }

  size_t size() const { return nodes_.size(); }
  const Node& node(size_t id) const { return *nodes_[id]; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<Fetch>& fetches() const { return fetches_; }
  const std::vector<Assignment>& assignments() const { return assignments_; }
  /// Values that must be computed: fetched and assigned ones.
  std::vector<Symbol> roots() const;
  /// By node id: true if a root needs the node.
  std::vector<bool> needed() const { return needed_for(roots()); }
  /// The same for these values.
  std::vector<bool> needed_for(std::span<const Symbol> values) const;
  /// By node id: the nodes that use an output of it, in order.
  std::vector<std::vector<const Node*>> users() const;
  /// One line per node, for people and for tests.
  std::string str() const;

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Fetch> fetches_;
  std::vector<Assignment> assignments_;
  std::unordered_set<std::string> assigned_;  // variables that ever had an assignment
};

/// The same program in a graph of its own; the ops are shared.
Graph copy_of(const Graph& graph);

}  // namespace tpack
