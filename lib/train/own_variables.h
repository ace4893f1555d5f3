#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend/variable_store.h"

namespace tpack {

/// The variables of a trainer with its own step: `variables()` of the trainer returns `store()`, where
/// callbacks and checkpoints find them. Threads: as VariableStore.
class OwnVariables {
 public:
  /// The trained variables, and the numbers that may be set between steps, with their initial values.
  explicit OwnVariables(const std::map<std::string, Tensor>& model,
                        const std::map<std::string, double>& hyper_parameters = {}) {
    for (const auto& [name, value] : model) table_.declare({.name = name, .spec = value.spec()});
    for (const auto& [name, value] : hyper_parameters)
      table_.declare({.name = name,
                      .spec = {DType::kFloat64, {}},
                      .scope = VariableScope::kOptimizer,
                      .hyper_parameter = true});
    store_ = std::make_unique<VariableStore>(table_);
    for (const auto& [name, value] : model) store_->set(name, value);
    for (const auto& [name, value] : hyper_parameters) store_->set_number(name, value);
  }

  VariableStore* store() const { return store_.get(); }
  /// The elements of a variable of this type, which a step works on.
  template <class T>
  T* data(const std::string& name) const {
    return store_->tensor(name).data<T>();
  }

 private:
  VariableTable table_;
  std::unique_ptr<VariableStore> store_;
};

}  // namespace tpack
