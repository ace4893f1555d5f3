#include "metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "ops/concat.h"

namespace tpack {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The content of a row: `outputs` scores, then a label for each of them, or the number of a class.
struct RankingRows {
  size_t outputs = 1;
  bool are_classes = false;
  bool are_logits = false;  // of classes, before their softmax

  size_t width() const { return outputs + (are_classes ? 1 : outputs); }
};

/// The log of p / (1 - p) of each class, where p is its softmax: it orders samples by p, and distinguishes
/// samples with p near 1. Sums do not depend on the order of the classes.
class LogOdds {
 public:
  /// If a score is not finite, all become NaN.
  void apply(std::span<double> scores) {
    if (!std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); }))
      return std::fill(scores.begin(), scores.end(), kNone);
    sorted_.assign(scores.begin(), scores.end());
    std::sort(sorted_.begin(), sorted_.end());
    const double best = sorted_.back();
    const double second = sorted_[sorted_.size() - 2];
    double of_others = 0;  // than the best one
    for (size_t i = 0; i + 1 < sorted_.size(); ++i) of_others += std::exp(sorted_[i] - second);
    const double all = of_others * std::exp(second - best) + 1;
    // Differences first: they are exact more often, so ties remain ties if a number is added to all scores.
    for (double& score : scores) {
      score = score == best ? (best - second) - std::log(of_others)
                            : (score - best) - std::log(all - std::exp(score - best));
    }
  }

 private:
  std::vector<double> sorted_;
};

class RankingAccumulation final : public Accumulation {
 public:
  RankingAccumulation(RankingRows rows, const RankingFields& fields, RankingMeasure measure,
                      double of_nothing)
      : rows_(rows),
        average_(fields.average),
        class_(fields.class_number),
        ignored_(fields.ignore_label),
        measure_(measure),
        of_nothing_(of_nothing) {}

  bool gathers() const override { return true; }

  bool has_value(std::span<const double> total) const override {
    const std::vector<std::vector<RankedAnswer>> all = answers(total);
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      const auto yes = std::count_if(one.begin(), one.end(), [](const RankedAnswer& a) { return a.is_yes; });
      return yes > 0 && yes < static_cast<std::ptrdiff_t>(one.size());
    });
  }

  double value(std::span<const double> total) const override {
    double sum = 0;
    double weights = 0;
    for (std::vector<RankedAnswer>& one : answers(total)) {
      const bool has_nan =
          std::any_of(one.begin(), one.end(), [](const RankedAnswer& a) { return std::isnan(a.score); });
      if (has_nan) return kNone;
      const auto yes = std::count_if(one.begin(), one.end(), [](const RankedAnswer& a) { return a.is_yes; });
      std::sort(one.begin(), one.end(),
                [](const RankedAnswer& a, const RankedAnswer& b) { return a.score > b.score; });
      const double figure = yes == 0 ? kNone : measure_(one);
      if (std::isnan(figure)) continue;
      const double weight = average_ == RankingAverage::kWeighted ? static_cast<double>(yes) : 1;
      sum += weight * figure;
      weights += weight;
    }
    return weights == 0 ? of_nothing_ : sum / weights;
  }

 private:
  /// The figures of each output, or of one, or of all together.
  std::vector<std::vector<RankedAnswer>> answers(std::span<const double> total) const {
    const bool together = average_ == RankingAverage::kMicro;
    std::vector<std::vector<RankedAnswer>> all(class_ || together ? 1 : rows_.outputs);
    std::vector<double> scores(rows_.outputs);
    LogOdds log_odds;
    for (size_t at = 0; at + rows_.width() < total.size(); at += rows_.width()) {
      const std::span<const double> row = total.subspan(at, rows_.width());
      std::copy_n(row.begin(), rows_.outputs, scores.begin());
      if (rows_.are_logits) log_odds.apply(scores);
      for (size_t k = 0; k < rows_.outputs; ++k) {
        if (class_ && k != static_cast<size_t>(*class_)) continue;
        const double label = rows_.are_classes ? row.back() : row[rows_.outputs + k];
        if (label == ignored_) continue;
        const bool is_yes = rows_.are_classes ? label == static_cast<double>(k) : label > 0.5;
        all[class_ || together ? 0 : k].push_back({scores[k], is_yes});
      }
    }
    return all;
  }

  RankingRows rows_;
  RankingAverage average_;
  std::optional<int64_t> class_;
  std::optional<double> ignored_;
  RankingMeasure measure_;
  double of_nothing_;
};

/// The labels [N, K] of outputs, or [N, 1] of classes.
Symbol labels_of(const ModelView& model, const RankingFields& fields, const Symbol& scores,
                 bool are_classes) {
  Builder& b = model.builder();
  const int64_t samples = scores.shape()[0];
  if (are_classes) return b.reshape(b.to_float(model.class_numbers(fields.labels, scores)), {samples, 1});
  return b.reshape(model.like({0, fields.labels}, scores).symbol,
                   {samples, scores.shape().elements() / samples});
}

}  // namespace

void check_ranking(const RankingFields& fields, const std::string& owner) {
  if (fields.class_number && fields.average != RankingFields().average)
    throw ConfigError(
        owner + ": 'class' selects one output or class, and 'average' combines all; remove one of them");
}

SumAndWeight ranking(const ModelView& model, const RankingFields& fields, RankingMeasure measure,
                     double of_nothing, const std::string& owner) {
  Builder& b = model.builder();
  const Symbol given = model.output(fields.logits);
  const Symbol scores = b.to_float(given);
  const Shape& shape = scores.shape();
  if (shape.rank() == 0)
    throw ShapeError(fields.logits.position,
                     owner + ": output " + fields.logits.name + " is one number, not one for each sample");
  const int64_t samples = shape[0];
  RankingRows rows{.outputs = static_cast<size_t>(shape.elements() / samples)};
  const Shape labels = model.output(fields.labels).shape();
  rows.are_classes = shape.rank() == 2 && rows.outputs > 1 && labels.elements() != shape.elements();
  rows.are_logits = rows.are_classes && !b.meaning(given).sums_to_one;
  if (fields.class_number && static_cast<size_t>(*fields.class_number) >= rows.outputs)
    throw ConfigError(fields.logits.position,
                      owner + ": 'class' is " + std::to_string(*fields.class_number) + "; '" +
                          fields.logits.name + "' has " + std::to_string(rows.outputs) +
                          (rows.outputs == 1 ? " score" : " scores") + " for each sample, numbered from 0");
  const Symbol flat = b.reshape(scores, {samples, static_cast<int64_t>(rows.outputs)});
  const std::vector<Symbol> parts = {flat, labels_of(model, fields, scores, rows.are_classes)};
  return {concat(b, parts, 1), b.constant(static_cast<double>(samples)),
          std::make_shared<const RankingAccumulation>(rows, fields, measure, of_nothing)};
}

}  // namespace tpack
