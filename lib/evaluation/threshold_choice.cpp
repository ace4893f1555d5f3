#include "evaluation/threshold_choice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"
#include "evaluation/sample_losses.h"

namespace tpack {
namespace {

constexpr std::array<std::pair<const char*, ThresholdGoal::Kind>, 3> kGoals = {
    {{"recall", ThresholdGoal::Kind::kRecall},
     {"precision", ThresholdGoal::Kind::kPrecision},
     {"cost", ThresholdGoal::Kind::kLowestCost}}};

}  // namespace

ThresholdGoal ThresholdGoal::parse(const std::string& text) {
  if (text == "f1") return {};
  const size_t equals = std::min(text.find('='), text.size());
  double value = 0;
  const char* begin = text.data() + std::min(equals + 1, text.size());
  const auto read = std::from_chars(begin, text.data() + text.size(), value);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  for (const auto& [name, kind] : kGoals) {
    if (text.substr(0, equals) != name || !is_number) continue;
    const bool is_cost = kind == Kind::kLowestCost;
    if (value > 0 && (value <= 1 || is_cost)) return {kind, value};
    throw ConfigError("--threshold-for " + text + ": must be above 0" + (is_cost ? "" : " and at most 1"));
  }
  throw ConfigError("--threshold-for: '" + text +
                    "' is not a goal; write f1, recall=0.9, precision=0.9, or cost=5 if a missed positive "
                    "costs as much as 5 false alarms");
}

ThresholdChoice::ThresholdChoice(const Evaluator& evaluator, ThresholdGoal goal) : goal_(goal) {
  const std::vector<PredictionTarget>& all = evaluator.targets();
  const auto found = std::find_if(all.begin(), all.end(), &ClassReport::tells_two);
  if (found == all.end())
    throw ConfigError("--choose-threshold: no term of the cost is a binary classification");
  target_ = static_cast<size_t>(found - all.begin());
  const std::vector<std::string>& names = evaluator.class_names(target_);
  name_ = names.size() > 1 ? names[1] : "yes";
}

void ThresholdChoice::see(int64_t /*batch*/, std::span<const TargetBatch> compared) {
  const TargetBatch& batch = compared[target_];
  for (int64_t row = 0; row < batch.predictions.shape()[0]; ++row) {
    const auto sample = compared_sample(batch, row);
    if (!sample) continue;
    // Scores that are not finite predict neither class.
    const double p = sample->predicted < 0    ? -1
                     : sample->predicted == 1 ? sample->confidence
                                              : 1 - sample->confidence;
    samples_.push_back({p, sample->actual == 1});
  }
}

ThresholdChoice::Figures ThresholdChoice::figures(double threshold, double right, double said,
                                                  double actual) const {
  const double missed = goal_.kind == ThresholdGoal::Kind::kLowestCost ? goal_.value : 1;
  return {threshold, said > 0 ? right / said : 0, actual > 0 ? right / actual : 0,
          said + actual > 0 ? 2 * right / (said + actual) : 0, said - right + missed * (actual - right)};
}

ThresholdChoice::Figures ThresholdChoice::at(double threshold) const {
  double right = 0;
  double said = 0;
  double actual = 0;
  for (const Sample& sample : samples_) {
    const bool says = sample.probability >= threshold;
    said += says ? 1 : 0;
    actual += sample.is_second ? 1 : 0;
    right += says && sample.is_second ? 1 : 0;
  }
  return figures(threshold, right, said, actual);
}

/// Each division of the samples into two; first the division at 0.5.
std::vector<ThresholdChoice::Figures> ThresholdChoice::candidates() const {
  std::vector<Sample> sorted = samples_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Sample& a, const Sample& b) { return a.probability > b.probability; });
  const auto actual = static_cast<double>(
      std::count_if(sorted.begin(), sorted.end(), [](const Sample& sample) { return sample.is_second; }));
  std::vector<Figures> all = {at(0.5)};
  const bool may_say_none = !sorted.empty() && sorted[0].probability < 1;
  if (may_say_none) all.push_back(figures((1 + sorted[0].probability) / 2, 0, 0, actual));
  double right = 0;
  for (size_t i = 0; i < sorted.size() && sorted[i].probability >= 0; ++i) {
    right += sorted[i].is_second ? 1 : 0;
    const double next = i + 1 < sorted.size() ? std::max(0.0, sorted[i + 1].probability) : 0;
    if (next == sorted[i].probability) continue;  // both or neither are predicted
    all.push_back(figures((sorted[i].probability + next) / 2, right, static_cast<double>(i + 1), actual));
  }
  return all;
}

bool ThresholdChoice::is_allowed(const Figures& one) const {
  if (goal_.kind == ThresholdGoal::Kind::kRecall) return one.recall >= goal_.value;
  return goal_.kind != ThresholdGoal::Kind::kPrecision || one.precision >= goal_.value;
}

bool ThresholdChoice::is_better(const Figures& a, const Figures& b) const {
  const auto merit = [this](const Figures& one) {
    if (goal_.kind == ThresholdGoal::Kind::kRecall) return std::pair(one.precision, one.recall);
    if (goal_.kind == ThresholdGoal::Kind::kPrecision) return std::pair(one.recall, one.precision);
    return std::pair(goal_.kind == ThresholdGoal::Kind::kLowestCost ? -one.cost : one.f1, 0.0);
  };
  if (merit(a) != merit(b)) return merit(a) > merit(b);
  return std::abs(a.threshold - 0.5) < std::abs(b.threshold - 0.5);
}

ThresholdChoice::Figures ThresholdChoice::best() const {
  std::vector<Figures> all = candidates();
  double highest = 0;
  for (const Figures& one : all) highest = std::max(highest, one.precision);
  std::erase_if(all, [this](const Figures& one) { return !is_allowed(one); });
  if (all.empty() && goal_.kind == ThresholdGoal::Kind::kPrecision)
    throw DataError("--threshold-for: no threshold has a precision of " + short_text(goal_.value) + " for '" +
                    name_ + "'; the highest is " + short_text(highest));
  if (all.empty())
    throw DataError("--threshold-for: no threshold has a recall of " + short_text(goal_.value) + " for '" +
                    name_ + "'" + (highest == 0 ? "; it has no samples" : ""));
  return *std::min_element(all.begin(), all.end(),
                           [this](const Figures& a, const Figures& b) { return is_better(a, b); });
}

std::string ThresholdChoice::str() const {
  const bool has_cost = goal_.kind == ThresholdGoal::Kind::kLowestCost;
  std::vector<std::string> header = {"threshold of " + name_, "precision", "recall", "F1"};
  if (has_cost) header.emplace_back("cost");
  TextTable table(header);
  for (const Figures& one : {best(), at(0.5)}) {
    std::vector<std::string> row = {short_text(one.threshold), short_text(one.precision),
                                    short_text(one.recall), short_text(one.f1)};
    if (has_cost) row.push_back(short_text(one.cost));
    table.add(row);
  }
  return table.str();
}

nlohmann::ordered_json ThresholdChoice::to_json() const {
  const Figures chosen = best();
  nlohmann::ordered_json json = {{"class", name_},
                                 {"threshold", chosen.threshold},
                                 {"precision", chosen.precision},
                                 {"recall", chosen.recall},
                                 {"f1", chosen.f1}};
  if (goal_.kind == ThresholdGoal::Kind::kLowestCost) json["cost"] = chosen.cost;
  return json;
}

}  // namespace tpack
