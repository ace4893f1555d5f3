#include "model/cost_statistic.h"

#include <algorithm>

#include "nn/classification.h"
#include "ops/concat.h"

namespace tpack {

Statistic cost_statistic(Builder& b, std::span<const CostTerm> terms, int64_t samples,
                         const std::string& name, const std::string& cost) {
  Symbol total;
  for (const CostTerm& term : terms) total = total ? b.add(total, term.value) : term.value;
  Statistic statistic = nn::cost_statistic(b, total, samples, name);
  statistic.cost = cost;
  if (std::ranges::none_of(terms, [](const CostTerm& term) { return bool(term.counted); })) return statistic;
  std::vector<Symbol> sums;
  std::vector<Symbol> counts;
  for (const CostTerm& term : terms) {
    counts.push_back(b.reshape(term.counted ? term.counted : statistic.weight, {1}));
    sums.push_back(b.mul(b.reshape(term.value, {1}), counts.back()));
  }
  if (terms.size() == 1) {
    statistic.sum = b.reshape(sums[0], {});
    statistic.weight = terms[0].counted;
    return statistic;
  }
  sums.insert(sums.end(), counts.begin(), counts.end());
  statistic.sum = concat(b, sums, 0);
  statistic.accumulation = sum_of_means();
  return statistic;
}

Symbol counted_share(Builder& b, std::span<const CostTerm> terms) {
  Symbol sum;
  double all = 0;  // terms where all losses count
  for (const CostTerm& term : terms) {
    if (!term.counted) {
      all += 1;
      continue;
    }
    const Symbol share = b.mul(term.counted, 1 / term.losses);
    sum = sum ? b.add(sum, share) : share;
  }
  if (!sum || terms.size() == 1) return sum;
  return b.mul(b.add(sum, all), 1 / static_cast<double>(terms.size()));
}

}  // namespace tpack
