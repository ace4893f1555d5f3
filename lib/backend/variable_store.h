#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/variables.h"
#include "tensor/tensor.h"

namespace tpack {

/// Which variables a store shares with another one; gradients and local variables are never shared.
enum class Sharing : uint8_t {
  kAll,
  kOptimizer  // slots and hyper-parameters, but not weights and moving averages
};

/// The variables of one device, outside of any program, in the device's memory and in plain row-major layout.
/// The variables of a group lie one after the other in one flat block, their gradients and every optimizer
/// slot in blocks of the same layout: one update kernel, one all-reduce per group. Only the device itself
/// uses this memory; all other code reads and writes variables with `value` and `set`. Threads: programs of
/// one device, and accesses here, run one at a time.
class VariableStore {
 public:
  /// Allocates every variable of the table (zeros) and a gradient for each one that is in a group. Errors:
  /// ResourceError if there is not enough memory.
  explicit VariableStore(const VariableTable& table, Memory& memory = host_memory());
  /// Uses some variables of `shared`, made from the same table, and allocates the others. Errors:
  /// ResourceError.
  VariableStore(const VariableTable& table, const VariableStore& shared, Sharing sharing);

  /// The value of a variable (or of a part or block, see below) on the host: the variable's own elements if
  /// the device uses the host's memory, so that they change with the variable; a copy otherwise.
  Tensor value(const std::string& name) const { return tensor(name).host(); }
  /// Copies a value into the variable. Errors: InternalError if type or shape differ.
  void set(const std::string& name, const Tensor& value);
  /// A variable without axes, as a number; neither call allocates.
  double number(const std::string& name) const;
  void set_number(const std::string& name, double value);

  /// The elements of a variable, a gradient ("@gradient/conv0/W"), a flat block ("@parameters") or a
  /// variable's part of a slot ("@momentum/conv0/W") in the device's memory; shared, not copied. Errors:
  /// InternalError if there is none.
  Tensor tensor(const std::string& name) const;
  /// Type and shape of the result of `tensor`. Errors: as `tensor`.
  TensorSpec spec(const std::string& name) const { return tensor(name).spec(); }
  /// Grows whenever variables may have changed: by `set` and the like, by a program, or by whoever asked for
  /// a `tensor`. Threads: any.
  uint64_t version() const { return *version_; }
  void note_change() const { ++*version_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  /// The layout of the blocks of a group.
  const FlatLayout& layout(const std::string& group) const;
  const VariableTable& table() const { return table_; }

  /// Sets the initial value of each variable that is not shared, with a separate generator keyed by seed and
  /// name.
  void initialize(uint64_t seed);
  /// The entries of a checkpoint: names (without flat blocks and gradients) of one scope, sorted.
  std::vector<std::string> names(VariableScope scope) const;
  /// Copies every value of `other`, which must have been made from the same table, except local variables.
  void copy_from(const VariableStore& other);
  /// The bytes of variables that are not shared.
  uint64_t bytes() const;

 private:
  VariableStore(const VariableTable& table, Memory& memory, const VariableStore* shared, Sharing sharing);
  void add(const std::string& name, Tensor tensor);
  Tensor zeros(const TensorSpec& spec) const;
  Tensor made(const std::string& name, const TensorSpec& spec, VariableScope scope) const;
  bool is_local(const std::string& name) const;
  bool is_shared(const std::string& name) const;
  bool is_in_a_block(const std::string& variable) const;
  void add_flat(const FlatBlock& block, DType type);

  const VariableTable& table_;
  Memory& memory_;
  const VariableStore* const shared_;  // null: nothing is shared
  const Sharing sharing_;
  std::map<std::string, FlatLayout> layouts_;  // by group
  std::map<std::string, Tensor> tensors_;
  std::shared_ptr<std::atomic<uint64_t>> version_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace tpack
