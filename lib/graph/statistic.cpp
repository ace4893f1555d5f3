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

void Accumulation::add(std::span<double> total, std::span<const double> more) const {
  for (size_t i = 0; i < total.size(); ++i) total[i] += more[i];
}

namespace {

class Ratio final : public Accumulation {
 public:
  explicit Ratio(double of_nothing) : of_nothing_(of_nothing) {}
  double value(std::span<const double> total) const override {
    return total[1] == 0 ? of_nothing_ : total[0] / total[1];
  }

 private:
  double of_nothing_;
};

}  // namespace

std::shared_ptr<const Accumulation> ratio() {
  return std::make_shared<const Ratio>(std::numeric_limits<double>::quiet_NaN());
}

std::shared_ptr<const Accumulation> share() { return std::make_shared<const Ratio>(0); }

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
