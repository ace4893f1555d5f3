#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/variables.h"
#include "tensor/tensor.h"

namespace tpack {

/// The variables of one device, outside of any program, in plain row-major layout. Trainable variables lie
/// one after the other in one flat block, their gradients and every optimizer slot in blocks of the same
/// layout: one update kernel, one all-reduce. Threads: programs of one device run one at a time; so do the
/// accesses here.
class VariableStore {
 public:
  /// Allocates every variable of the table (zeros) and a gradient for each trainable one.
  explicit VariableStore(const VariableTable& table);

  /// The elements of a variable, a gradient ("@gradient/conv0/W"), a flat block ("@parameters") or a
  /// variable's part of a slot ("@momentum/conv0/W"); shared, not copied. Errors: InternalError where there
  /// is none.
  Tensor tensor(const std::string& name) const;
  bool has(const std::string& name) const { return tensors_.contains(name); }
  const FlatLayout& layout() const { return layout_; }
  const VariableTable& table() const { return table_; }

  /// Gives each variable its initial value, from its own generator keyed by seed and name.
  void initialize(uint64_t seed);
  /// What a checkpoint holds: names (without flat blocks and gradients) of one scope, sorted.
  std::vector<std::string> names(VariableScope scope) const;
  /// Copies every value of `other`, which must have been made from the same table.
  void copy_from(const VariableStore& other);
  uint64_t bytes() const;

 private:
  void add(const std::string& name, Tensor tensor);
  void add_flat(const std::string& block, DType type);

  const VariableTable& table_;
  FlatLayout layout_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace tpack
