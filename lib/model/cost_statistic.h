#pragma once

#include <span>
#include <string>

#include "graph/statistic.h"
#include "model/cost.h"

namespace tpack {

/// The statistic of a cost with these terms: over a flow, the sum of their means, each over all of its losses
/// that count. `cost`: the name of the cost, also of the cost of a term.
Statistic cost_statistic(Builder& b, std::span<const CostTerm> terms, int64_t samples,
                         const std::string& name, const std::string& cost);

/// []: the share of the losses of a batch that count, the mean over the terms of its cost; empty: all count.
Symbol counted_share(Builder& b, std::span<const CostTerm> terms);

}  // namespace tpack
