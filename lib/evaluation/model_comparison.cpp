#include "evaluation/model_comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

constexpr int kDraws = 1000;
constexpr uint64_t kKey = 95;

/// Figures of a resample, where each sample counts as often as it was drawn.
class Figures {
 public:
  explicit Figures(const ComparedSamples& of) : of_(of) {
    for (const ComparedSample& sample : of.samples())
      classes_ = std::max({classes_, sample.actual + 1, sample.predicted + 1});
  }

  void clear() {
    loss_ = 0;
    samples_ = 0;
    right_.assign(static_cast<size_t>(classes_), 0);
    predicted_ = actual_ = right_;
  }
  void add(size_t index, double times = 1) {
    const ComparedSample& sample = of_.samples()[index];
    samples_ += times;
    loss_ += times * sample.loss;
    if (sample.actual < 0) return;
    actual_[static_cast<size_t>(sample.actual)] += times;
    if (sample.predicted < 0) return;
    predicted_[static_cast<size_t>(sample.predicted)] += times;
    if (sample.actual == sample.predicted) right_[static_cast<size_t>(sample.actual)] += times;
  }
  /// Mean loss and, for classes, accuracy and the mean F1 of the classes that occur.
  std::vector<double> values() const {
    std::vector<double> values = {loss_ / samples_};
    if (!of_.has_classes()) return values;
    double right = 0;
    double f1 = 0;
    double occurring = 0;
    for (size_t c = 0; c < right_.size(); ++c) {
      right += right_[c];
      if (predicted_[c] + actual_[c] == 0) continue;
      ++occurring;
      f1 += 2 * right_[c] / (predicted_[c] + actual_[c]);
    }
    values.push_back(right / samples_);
    values.push_back(f1 / occurring);
    return values;
  }
  std::vector<double> values_of_all() {
    clear();
    for (size_t i = 0; i < of_.samples().size(); ++i) add(i);
    return values();
  }

 private:
  const ComparedSamples& of_;
  int64_t classes_ = 0;
  double loss_ = 0;
  double samples_ = 0;
  std::vector<double> right_;
  std::vector<double> predicted_;
  std::vector<double> actual_;
};

/// A random number with a Poisson distribution of mean 1.
int poisson(Rng& rng) {
  // 2^32 times the probability of at most k.
  static constexpr std::array<uint32_t, 10> kAtMost = {1580030169, 3160060337, 3950075422, 4213413783,
                                                       4279248374, 4292415292, 4294609778, 4294923276,
                                                       4294962463, 4294966817};
  const uint32_t drawn = rng.next();
  int times = 0;
  while (times < static_cast<int>(kAtMost.size()) && drawn >= kAtMost[static_cast<size_t>(times)]) ++times;
  return times;
}

double percentile(std::vector<double> values, double part) {
  const auto at = static_cast<std::ptrdiff_t>(std::lround(part * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

std::string signed_text(double value) { return (value > 0 ? "+" : "") + short_text(value); }

}  // namespace

ComparedSamples::ComparedSamples(const Evaluator& evaluator) {
  if (evaluator.targets().empty())
    throw ConfigError("two models: no term of the cost compares predictions with targets");
  loss_ = evaluator.targets()[0].term;
}

void ComparedSamples::see(int64_t /*batch*/, std::span<const TargetBatch> compared) {
  const TargetBatch& batch = compared[0];
  const int64_t rows = batch.predictions.shape()[0];
  for (int64_t row = 0; row < rows; ++row) {
    const auto sample = compared_sample(batch, row);
    if (!sample) continue;
    samples_.push_back(*sample);
    targets_.push_back(batch.targets.at(row * (batch.targets.elements() / rows)));
  }
}

std::string ComparedFigure::verdict() const {
  if (!(low > 0 || high < 0)) return "noise";
  return is_better(second, first, goal) ? "the second is better" : "the first is better";
}

std::vector<ComparedFigure> compare_models(const ComparedSamples& first, const ComparedSamples& second) {
  if (first.loss() != second.loss() || first.has_classes() != second.has_classes())
    throw DataError("the costs of the two models have different terms, " + first.loss() + " and " +
                    second.loss());
  if (first.targets() != second.targets())
    throw DataError(
        "the two models were not evaluated on the same samples with the same targets (unit, order of "
        "classes); use --data with a flow that both configs have");
  Figures a(first);
  Figures b(second);
  std::vector<ComparedFigure> figures;
  const std::vector<double> of_a = a.values_of_all();
  const std::vector<double> of_b = b.values_of_all();
  const std::vector<std::string> names = {first.loss(), "accuracy", "mean F1 of classes"};
  for (size_t i = 0; i < of_a.size(); ++i)
    figures.push_back({names[i], of_a[i], of_b[i], 0, 0, i == 0 ? Goal::kMin : Goal::kMax});
  std::vector<std::vector<double>> differences(figures.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng(kKey, static_cast<uint64_t>(draw));
    a.clear();
    b.clear();
    for (size_t i = 0; i < first.samples().size(); ++i) {
      const int times = poisson(rng);
      if (times == 0) continue;
      a.add(i, times);
      b.add(i, times);
    }
    const std::vector<double> drawn_a = a.values();
    const std::vector<double> drawn_b = b.values();
    for (size_t i = 0; i < figures.size(); ++i) differences[i].push_back(drawn_b[i] - drawn_a[i]);
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i].low = percentile(differences[i], 0.025);
    figures[i].high = percentile(differences[i], 0.975);
  }
  return figures;
}

std::string str(const std::vector<ComparedFigure>& figures) {
  TextTable table({"figure", "first", "second", "difference", "from", "to", "verdict"});
  for (const ComparedFigure& one : figures) {
    table.add({one.name, short_text(one.first), short_text(one.second), signed_text(one.second - one.first),
               signed_text(one.low), signed_text(one.high), one.verdict()});
  }
  return table.str();
}

nlohmann::ordered_json to_json(const std::vector<ComparedFigure>& figures) {
  nlohmann::ordered_json json;
  for (const ComparedFigure& one : figures) {
    json[one.name] = {{"first", one.first}, {"second", one.second}, {"difference", one.second - one.first},
                      {"low", one.low},     {"high", one.high},     {"verdict", one.verdict()}};
  }
  return json;
}

}  // namespace tpack
