#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "optim/optimizer.h"

/// Numbers of the variables in a flat block: [variables], in the order of the layout, and [n], for each
/// element.
namespace tpack {

/// The Euclidean norm of each variable's part of a flat block [n]: [variables]. The order of the sums depends
/// on the layout only, so the norms of all replicas have the same bits.
Symbol norms_of_variables(Builder& b, const FlatLayout& layout, Symbol block);

/// The number of each variable [variables] at each of its elements, and at the padding after them: [n].
Symbol at_elements(Builder& b, const FlatLayout& layout, Symbol numbers);

using NumberOfVariable = std::function<double(const FlatLayout::Entry&)>;
/// A constant for each variable, [variables].
Symbol constants_of_variables(Builder& b, const FlatLayout& layout, const NumberOfVariable& number);
/// The same at each element, [n]; 0 at the padding.
Symbol constants_of_elements(Builder& b, const FlatLayout& layout, const NumberOfVariable& number);

/// The values of a variable in a flat block [n], in its shape.
Symbol values_of_variable(Builder& b, const FlatLayout::Entry& variable, Symbol block);
using ValuesOfVariable = std::function<std::optional<Symbol>(const FlatLayout::Entry&)>;
/// A flat block [n] of the values of each variable, of any shape with its number of elements; 0 for variables
/// without values, and at the padding.
Symbol block_of_values(Builder& b, const FlatLayout& layout, const ValuesOfVariable& values);

/// Errors: ConfigError for patterns without a variable of the block; the texts begin with `what`
/// ("'exclude'").
void check_patterns_of(const FlatLayout& layout, const std::vector<Ref<VariablePattern>>& patterns,
                       const std::string& what);

}  // namespace tpack
