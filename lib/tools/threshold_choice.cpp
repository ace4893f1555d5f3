#include "tools/threshold_choice.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"
#include "tools/sample_losses.h"

namespace tpack {

ThresholdChoice::ThresholdChoice(const Evaluator& evaluator) {
  const std::vector<Judgement>& all = evaluator.judgements();
  const auto tells_two = [](const Judgement& one) {
    const auto& shape = one.predictions.shape();
    const bool is_set = one.kind == Judgement::Kind::kYesOrNo && shape.elements() != shape[0];
    return ClassReport::classes_of(one) == 2 && !is_set;
  };
  const auto found = std::find_if(all.begin(), all.end(), tells_two);
  if (found == all.end()) throw ConfigError("--choose-threshold: no term of the cost tells two classes");
  judgement_ = static_cast<size_t>(found - all.begin());
  const std::vector<std::string>& names = evaluator.class_names(judgement_);
  name_ = names.size() > 1 ? names[1] : "yes";
}

void ThresholdChoice::see(int64_t /*batch*/, std::span<const JudgedBatch> judged) {
  const JudgedBatch& batch = judged[judgement_];
  for (int64_t row = 0; row < batch.predictions.shape()[0]; ++row) {
    const auto sample = judged_sample(batch, row);
    if (!sample) continue;
    // Scores that are not finite say neither.
    const double p = sample->predicted < 0    ? -1
                     : sample->predicted == 1 ? sample->confidence
                                              : 1 - sample->confidence;
    samples_.push_back({p, sample->actual == 1});
  }
}

ThresholdChoice::Figures ThresholdChoice::figures(double threshold, double right, double said,
                                                  double actual) {
  return {threshold, said > 0 ? right / said : 0, actual > 0 ? right / actual : 0,
          said + actual > 0 ? 2 * right / (said + actual) : 0};
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

ThresholdChoice::Figures ThresholdChoice::best() const {
  std::vector<Sample> sorted = samples_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Sample& a, const Sample& b) { return a.probability > b.probability; });
  const auto actual = static_cast<double>(
      std::count_if(sorted.begin(), sorted.end(), [](const Sample& sample) { return sample.is_second; }));
  Figures best = at(0.5);
  double right = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    right += sorted[i].is_second ? 1 : 0;
    const double next = i + 1 < sorted.size() ? std::max(0.0, sorted[i + 1].probability) : 0;
    if (sorted[i].probability < 0) break;
    if (next == sorted[i].probability) continue;  // both are said, or neither
    const Figures here =
        figures((sorted[i].probability + next) / 2, right, static_cast<double>(i + 1), actual);
    const bool is_nearer = std::abs(here.threshold - 0.5) < std::abs(best.threshold - 0.5);
    if (here.f1 > best.f1 || (here.f1 == best.f1 && is_nearer)) best = here;
  }
  return best;
}

std::string ThresholdChoice::str() const {
  TextTable table({"threshold of " + name_, "precision", "recall", "F1"});
  const auto text = [](double value) { return shortest(static_cast<float>(value)); };
  for (const Figures& one : {best(), at(0.5)})
    table.add({text(one.threshold), text(one.precision), text(one.recall), text(one.f1)});
  return table.str();
}

nlohmann::ordered_json ThresholdChoice::to_json() const {
  const Figures chosen = best();
  return {{"class", name_},
          {"threshold", chosen.threshold},
          {"precision", chosen.precision},
          {"recall", chosen.recall},
          {"f1", chosen.f1}};
}

}  // namespace tpack
