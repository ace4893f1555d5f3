#include "graph/statistic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpack {

const char* goal_name(Goal goal) { return EnumNames<Goal>::kNames[static_cast<size_t>(goal)].first; }

std::string goal_text(Goal goal, const std::string& statistic) {
  return std::string(goal == Goal::kMin ? "lower" : "higher") + " values of '" + statistic + "' are better";
}

bool is_better(double a, double b, Goal goal) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
  return goal == Goal::kMin ? a < b : a > b;
}

std::vector<std::string> names_of(const StatisticGoals& statistics) {
  std::vector<std::string> names;
  for (const auto& [name, goal] : statistics) names.push_back(name);
  return names;
}

namespace {

void add_parts(std::span<double> total, std::span<const double> batch) {
  for (size_t i = 0; i < total.size(); ++i) total[i] += batch[i];
}

double ratio(std::span<const double> total) {
  return total[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : total[0] / total[1];
}

}  // namespace

const Accumulation kRatio = {add_parts, ratio};
const Accumulation kShare = {
    add_parts, [](std::span<const double> total) { return total.back() == 0 ? 0 : ratio(total); }};

Tally::Tally(const Statistic& statistic)
    : accumulation_(statistic.accumulation),
      total_(static_cast<size_t>(statistic.sum.shape().elements()) + 1),
      batch_(total_.size()) {}

void Tally::clear() { std::fill(total_.begin(), total_.end(), 0); }

void Tally::add(const Tensor& sum, const Tensor& weight) {
  for (size_t i = 0; i + 1 < batch_.size(); ++i) batch_[i] = sum.at(static_cast<int64_t>(i));
  batch_.back() = weight.at(0);
  accumulation_->add(total_, batch_);
}

void Tally::add(const Tally& other) { accumulation_->add(total_, other.total_); }

double Tally::value() const { return accumulation_->value(total_); }

void Tally::set_parts(const std::vector<double>& parts) {
  if (parts.size() == total_.size()) total_ = parts;
}

}  // namespace tpack
