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
  /// A sum that is NaN says that something is wrong, also where nothing counts.
  bool has_value(std::span<const double> total) const override {
    return total[1] != 0 || std::isnan(total[0]);
  }

 private:
  double of_nothing_;
};

class SumOfMeans final : public Accumulation {
 public:
  double value(std::span<const double> total) const override {
    if (!has_value(total)) return std::numeric_limits<double>::quiet_NaN();
    const size_t terms = total.size() / 2;  // the last part is the weight
    double sum = 0;
    for (size_t i = 0; i < terms; ++i)
      if (total[terms + i] != 0 || std::isnan(total[i])) sum += total[i] / total[terms + i];
    return sum;
  }
  bool has_value(std::span<const double> total) const override {
    const auto sums = total.first(total.size() / 2);
    const auto counts = total.subspan(total.size() / 2, total.size() / 2);
    return std::ranges::any_of(counts, [](double count) { return count != 0; }) ||
           std::ranges::any_of(sums, [](double sum) { return std::isnan(sum); });
  }
};

}  // namespace

std::shared_ptr<const Accumulation> ratio() {
  return std::make_shared<const Ratio>(std::numeric_limits<double>::quiet_NaN());
}

std::shared_ptr<const Accumulation> share() { return std::make_shared<const Ratio>(0); }

std::shared_ptr<const Accumulation> sum_of_means() { return std::make_shared<const SumOfMeans>(); }

Tally::Tally(const Statistic& statistic) : accumulation_(statistic.accumulation) {
  const auto elements = static_cast<size_t>(statistic.sum.shape().elements());
  if (accumulation_->gathers()) row_ = elements / static_cast<size_t>(statistic.sum.shape()[0]);
  total_.resize(row_ > 0 ? 1 : elements + 1);
  batch_.resize(elements + 1);
}

Tally::Tally(size_t counts) : accumulation_(ratio()), total_(counts) {}

void Tally::clear() {
  if (row_ > 0) total_.resize(1);
  std::fill(total_.begin(), total_.end(), 0);
}

void Tally::add(const Tensor& sum, const Tensor& weight) {
  batch_.resize(static_cast<size_t>(sum.elements()) + 1);
  for (size_t i = 0; i + 1 < batch_.size(); ++i) batch_[i] = sum.at(static_cast<int64_t>(i));
  batch_.back() = weight.at(0);
  if (row_ > 0) return append(std::span(batch_).first(batch_.size() - 1), batch_.back());
  accumulation_->add(total_, batch_);
}

void Tally::add(const Tally& other) {
  if (row_ > 0) return append(std::span(other.total_).first(other.total_.size() - 1), other.total_.back());
  accumulation_->add(total_, other.total_);
}

/// The number of rows stays the last part.
void Tally::append(std::span<const double> rows, double count) {
  const double all = total_.back() + count;
  total_.pop_back();
  total_.insert(total_.end(), rows.begin(), rows.end());
  total_.push_back(all);
}

double Tally::value() const { return accumulation_->value(total_); }

void Tally::set_parts(const std::vector<double>& parts) {
  const bool are_rows = row_ > 0 && !parts.empty() &&
                        static_cast<double>(parts.size() - 1) == static_cast<double>(row_) * parts.back();
  if (row_ > 0 ? are_rows : parts.size() == total_.size()) total_ = parts;
}

}  // namespace tpack
