#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/schedule.h"
#include "tensor/tensor.h"

namespace tpack {

/// The owner of a variable, and its part of a checkpoint.
enum class VariableScope : uint8_t {
  kModel,      // weights and statistics: what inference needs
  kOptimizer,  // slots and hyper-parameters
  kGradient,   // one for each trainable variable; never saved
  kLocal       // state of a replica (of an RNN, for example): each replica has a different value
};

/// Fills the tensor of a new variable. The generator is keyed by seed and name, so order does not matter.
using Initialize = std::function<void(const Tensor& value, Rng& rng)>;

/// A class of labels and how often it is in the training data.
struct ClassCount {
  std::string name;  // empty if classes are numbers only
  int64_t samples = 0;
};

/// An initial value computed from the classes in the training data.
struct ClassesOfInput {
  std::string input;  // of the model: class numbers
  Position position = {};
  /// The value with this number of elements. Errors: ConfigError.
  std::function<std::vector<double>(const std::vector<ClassCount>& classes, size_t elements)> value;
};

/// An initial value [2, columns] with the mean and the standard deviation of an input in the training data;
/// the deviation of a constant column is 1.
struct NumbersOfInput {
  std::string input;  // of the model: one number, or a vector
  Position position = {};
  bool log1p = false;  // of log(1 + number)
};

/// What the values of a kernel multiply, for importers of other layouts.
enum class KernelKind : uint8_t {
  kNone,
  kConvolution,            // W [filters, channels / groups, height, width]
  kTransposedConvolution,  // W [channels, filters, height, width]
  kDense                   // W [inputs, units]
};

struct VariableSpec {
  std::string name;
  TensorSpec spec;
  VariableScope scope = VariableScope::kModel;
  bool trainable = false;
  Initialize initialize = nullptr;                     // null: zeros
  bool hyper_parameter = false;                        // a number that may be set between steps
  std::shared_ptr<const Schedule> schedule = nullptr;  // its schedule; null: none, or callbacks set it
  // In a new run these are filled after `initialize`:
  std::optional<ClassesOfInput> of_classes = {};
  std::optional<NumbersOfInput> of_numbers = {};
  KernelKind kernel = KernelKind::kNone;
  Shape flattened = {};  // of a dense layer's input before it was flattened: [channels, height, width]
};

/// Trainable variables that one update trains.
struct ParameterGroup {
  std::string name;                         // of the update; "" if there is one
  std::vector<std::string> variables;       // in the order in which backward finishes their gradients
  std::vector<std::string> unreached = {};  // those of them that the cost does not depend on
};

/// The variables that programs share, by name, in order of declaration.
/// Threads: one at a time.
class VariableTable {
 public:
  /// Declares a variable, or finds the existing one. Errors: ShapeError if it was declared differently, or is
  /// new in a closed table.
  const VariableSpec& declare(VariableSpec spec);
  /// From now on, programs cannot declare new variables, because devices have allocated memory for the
  /// existing ones.
  void close() { closed_ = true; }
  /// Null if there is none.
  const VariableSpec* find(const std::string& name) const;
  std::vector<const VariableSpec*> all() const;
  std::vector<const VariableSpec*> trainable() const;
  /// Names of numbers that may be set between steps.
  std::vector<std::string> hyper_parameters() const;
  /// Their schedules, without numbers that have none.
  std::map<std::string, std::shared_ptr<const Schedule>> schedules() const;
  using Choice = std::function<bool(const std::string& name)>;
  /// Sets which variables keep their values, before layers check it: those of `freeze`, and those that no
  /// update would train.
  void freeze(Choice is_frozen, Choice is_untrained) {
    is_frozen_ = std::move(is_frozen);
    is_untrained_ = std::move(is_untrained);
  }
  bool is_frozen(const std::string& name) const { return is_frozen_ && is_frozen_(name); }
  /// Also true for a frozen one.
  bool is_untrained(const std::string& name) const { return is_untrained_ && is_untrained_(name); }
  /// Sets which trainable variables are trained together; those without a group are frozen. Before the call,
  /// all trainable variables are the group "". Errors: InternalError for a variable that is not declared, not
  /// trainable, or in two groups.
  void set_groups(std::vector<ParameterGroup> groups);
  std::vector<ParameterGroup> groups() const;

 private:
  std::map<std::string, VariableSpec> by_name_;
  std::vector<std::string> order_;
  std::optional<std::vector<ParameterGroup>> groups_;
  Choice is_frozen_;
  Choice is_untrained_;
  bool closed_ = false;
};

/// True if a pattern matches the variable: a regular expression for the whole name, or a name above the
/// variable ("discriminator" matches "discriminator/fc0/W"). The only rule for patterns of variables in
/// configs. Errors: ConfigError for an invalid expression.
bool is_for_variable(const std::string& pattern, const std::string& name);
/// "no WHAT matches 'discriminater' or is below it; did you mean 'discriminator'?": the names above variables
/// are candidates, too.
std::string no_match(const std::string& what, const std::string& pattern,
                     const std::vector<std::string>& known);

/// The entries of a scope in a checkpoint, sorted: variables, and the part of each variable in flat blocks.
std::vector<std::string> saved_names(const VariableTable& table, VariableScope scope);

/// Names of the flat blocks of a group: its variables one after the other, and in the same order their
/// gradients and each optimizer slot. They can be read and assigned as variables of shape [n].
struct FlatBlock {
  std::string of;     // "parameters", "gradient", or a slot: "momentum"
  std::string group;  // "" where there is one

  /// "@parameters"; of a named group "@parameters:discriminator".
  std::string name() const;
  /// The part of one variable: "@gradient/conv0/W". It needs no group, because a variable is in one group.
  std::string part(const std::string& variable) const;
  /// The block with this name; empty for other names.
  static std::optional<FlatBlock> parse(const std::string& name);
};
inline constexpr const char* kParameters = "parameters";
inline constexpr const char* kGradient = "gradient";
/// "@gradient/conv0/W".
std::string gradient_name(const std::string& variable);

/// The position of each variable of a group in its flat blocks: in the group's order, each on a 64-byte
/// boundary.
struct FlatLayout {
  struct Entry {
    std::string name;
    Shape shape;
    int64_t offset = 0;  // elements
  };
  std::vector<Entry> entries;
  int64_t size = 0;  // elements, padding included; padding is always zero
};
FlatLayout flat_layout(const VariableTable& table, const ParameterGroup& group);

}  // namespace tpack
