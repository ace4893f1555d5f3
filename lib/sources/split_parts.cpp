#include "sources/split_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "table/csv.h"
#include "table/date_text.h"

namespace tpack {
namespace {

/// Fills parts evenly: `next` is the part that is furthest below its share.
class Filling {
 public:
  explicit Filling(const std::vector<double>& shares) : shares_(shares), has_(shares.size()) {}

  size_t next(double samples) const {
    const auto lack = [&](size_t part) { return shares_[part] * (total_ + samples) - has_[part]; };
    size_t most = 0;
    for (size_t part = 1; part < has_.size(); ++part)
      if (lack(part) > lack(most)) most = part;
    return most;
  }
  void add(size_t part, double samples) {
    has_[part] += samples;
    total_ += samples;
  }

 private:
  const std::vector<double>& shares_;
  std::vector<double> has_;
  double total_ = 0;
};

/// 0..size-1 in random order.
std::vector<size_t> shuffled(size_t size, uint64_t seed) {
  const Permutation order(size, mix(seed, stable_hash("split")));
  std::vector<size_t> all(size);
  for (size_t i = 0; i < size; ++i) all[i] = order(i);
  return all;
}

}  // namespace

std::vector<double> order_values(const std::vector<std::string>& order) {
  std::vector<double> values;
  for (const std::string& text : order) {
    const auto number = csv_number(text);
    if (!number) break;
    values.push_back(*number);
  }
  if (values.size() == order.size()) return values;
  DateGuess guess;
  for (const std::string& text : order)
    if (!guess.see(text))
      throw DataError("'" + text + "' is neither a number nor a date such as 2020-04-03 or 2020-04-03 9:00");
  if (!guess.open().empty())
    throw DataError("'" + guess.open() + "', where day and month are ambiguous; write dates as 2020-04-03");
  if (guess.is_mixed())
    throw DataError(
        "dates of which some begin with the day and others with the month; write dates as 2020-04-03");
  values.clear();
  for (const std::string& text : order)
    values.push_back(static_cast<double>(parse_date(text, guess.order()).value_or(0)) +
                     read_date(text).fraction);
  return values;
}

std::vector<size_t> stratified_parts(const std::vector<int32_t>& strata, const std::vector<double>& shares,
                                     uint64_t seed, bool keeps_first) {
  std::vector<size_t> order = shuffled(strata.size(), seed);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strata[a] < strata[b]; });
  std::vector<size_t> parts(strata.size());
  Filling filling(shares);
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_first = i == 0 || strata[order[i]] != strata[order[i - 1]];
    const size_t part = is_first && keeps_first ? 0 : filling.next(1);
    filling.add(part, 1);
    parts[order[i]] = part;
  }
  return parts;
}

std::vector<size_t> grouped_parts(const std::vector<std::string>& groups, const std::vector<double>& shares,
                                  uint64_t seed) {
  std::map<std::string, std::vector<size_t>> members;
  std::vector<std::vector<size_t>> alone;  // samples without a group
  for (size_t i = 0; i < groups.size(); ++i) {
    if (is_missing_in_csv(groups[i]))
      alone.push_back({i});
    else
      members[groups[i]].push_back(i);
  }
  std::vector<const std::vector<size_t>*> all;
  for (const auto& [group, samples] : members) all.push_back(&samples);
  for (const std::vector<size_t>& sample : alone) all.push_back(&sample);
  std::vector<size_t> order = shuffled(all.size(), seed);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a]->size() > all[b]->size(); });
  std::vector<size_t> parts(groups.size());
  Filling filling(shares);
  for (const size_t group : order) {
    const auto size = static_cast<double>(all[group]->size());
    const size_t part = filling.next(size);
    filling.add(part, size);
    for (const size_t sample : *all[group]) parts[sample] = part;
  }
  return parts;
}

std::vector<size_t> ordered_parts(const std::vector<std::string>& order, const std::vector<double>& shares) {
  const std::vector<double> values = order_values(order);
  const auto is_less = [&](size_t a, size_t b) { return values[a] < values[b]; };
  std::vector<size_t> sorted(order.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), is_less);
  std::vector<size_t> parts(order.size());
  size_t end = order.size();
  double above = 0;  // the shares of the parts after this one
  for (size_t part = shares.size(); part-- > 0;) {
    above += shares[part];
    auto begin = part == 0
                     ? size_t{0}
                     : static_cast<size_t>(std::llround(static_cast<double>(order.size()) * (1 - above)));
    begin = std::min(begin, end);
    while (begin > 0 && begin < end && !is_less(sorted[begin - 1], sorted[begin])) --begin;
    for (size_t i = begin; i < end; ++i) parts[sorted[i]] = part;
    end = begin;
  }
  return parts;
}

std::vector<size_t> hashed_parts(const std::vector<std::string>& keys, const std::vector<double>& shares,
                                 uint64_t seed) {
  std::vector<size_t> parts;
  for (const std::string& key : keys) {
    constexpr double kUnit = 0x1p-53;
    double rest = static_cast<double>(mix(stable_hash(key), seed) >> 11U) * kUnit;
    // Starts with the last part, so that a smaller share of a part moves samples only to part 0.
    size_t part = shares.size() - 1;
    while (part > 0 && rest >= shares[part]) rest -= shares[part--];
    parts.push_back(part);
  }
  return parts;
}

}  // namespace tpack
