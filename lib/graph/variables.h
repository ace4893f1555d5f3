#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/rng.h"
#include "tensor/tensor.h"

namespace tpack {

/// Where a variable lives and which part of a checkpoint it goes to.
enum class VariableScope : uint8_t {
  kModel,      // weights and statistics: what inference needs
  kOptimizer,  // slots and hyper-parameters
  kGradient,   // one for each trainable variable; never saved
  kLocal       // a replica's own state (of an RNN, say); for trainings of one replica
};

/// Fills the tensor of a new variable. The generator is keyed by seed and name, so order does not matter.
using Initialize = std::function<void(const Tensor& value, Rng& rng)>;

struct VariableSpec {
  std::string name;
  TensorSpec spec;
  VariableScope scope = VariableScope::kModel;
  bool trainable = false;
  Initialize initialize = nullptr;  // null: zeros
  bool hyper_parameter = false;     // a number that may be set between steps
};

/// The variables that programs share, by name, in order of declaration.
/// Threads: one at a time.
class VariableTable {
 public:
  /// Declares a variable, or finds the one of that name. Errors: ShapeError where it was declared otherwise.
  const VariableSpec& declare(VariableSpec spec);
  /// Null where there is none.
  const VariableSpec* find(const std::string& name) const;
  std::vector<const VariableSpec*> all() const;
  std::vector<const VariableSpec*> trainable() const;
  /// Names of the trainable variables in the order in which backward finishes their gradients; set once it is
  /// known.
  void set_gradient_order(std::vector<std::string> names) { gradient_order_ = std::move(names); }
  const std::vector<std::string>& gradient_order() const { return gradient_order_; }

 private:
  std::map<std::string, VariableSpec> by_name_;
  std::vector<std::string> order_;
  std::vector<std::string> gradient_order_;
};

/// Names of the flat blocks: all trainable variables one after the other, and likewise their gradients and
/// each optimizer slot. They can be read and assigned as variables of shape [n] ("@parameters").
inline constexpr const char* kFlatParameters = "@parameters";
inline constexpr const char* kFlatGradient = "@gradient";
std::string flat_slot(const std::string& slot);  // "@momentum" for "momentum"
/// A variable's part of the gradients or of a slot: "@gradient/conv0/W", "@momentum/conv0/W".
std::string part_name(const std::string& block, const std::string& variable);
std::string gradient_name(const std::string& variable);

/// Where each trainable variable lies in the flat blocks: in gradient order, each on a 64-byte boundary.
struct FlatLayout {
  struct Entry {
    std::string name;
    Shape shape;
    int64_t offset = 0;  // elements
  };
  std::vector<Entry> entries;
  int64_t size = 0;  // elements, padding included; padding is always zero
};
FlatLayout flat_layout(const VariableTable& table);

}  // namespace tpack
