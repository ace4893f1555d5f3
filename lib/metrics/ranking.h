#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>

#include "model/cost.h"

namespace tpack {

/// How the figures of several outputs or classes become one.
enum class RankingAverage : uint8_t { kMacro, kWeighted, kMicro };
template <>
struct EnumNames<RankingAverage> {
  static constexpr std::array<std::pair<const char*, RankingAverage>, 3> kNames = {
      {{"macro", RankingAverage::kMacro},
       {"weighted", RankingAverage::kWeighted},
       {"micro", RankingAverage::kMicro}}};
};

/// The fields of metrics of the order of scores: positives before negatives.
struct RankingFields {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  RankingAverage average = RankingAverage::kMacro;
  std::optional<int64_t> class_number;
  std::optional<int64_t> ignore_label;
};

template <std::derived_from<RankingFields> P>
Schema<P> with_ranking(Schema<P> schema) {
  return schema
      .field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits),
             "scores [N, ...] for binary labels, or [N, classes], before or after a sigmoid or softmax")
      .required()
      .field("labels", static_cast<Ref<LayerOutput> P::*>(&P::labels),
             "binary labels in an output of the logits' size, where above 0.5 means positive; or class "
             "numbers, int32 [N], for one class against the rest by its probability")
      .required()
      .field("average", static_cast<RankingAverage P::*>(&P::average),
             "for several outputs or classes: macro, their mean; weighted, the mean weighted by the number "
             "of positives; micro, all scores together. Macro and weighted skip outputs without a figure "
             "because all their labels are equal")
      .field("class", static_cast<std::optional<int64_t> P::*>(&P::class_number), at_least(0),
             "the number of an output or class: only its figure, instead of an average")
      .field("ignore_label", static_cast<std::optional<int64_t> P::*>(&P::ignore_label),
             "samples or outputs with this label do not count");
}

/// A score and whether its label is positive.
struct RankedAnswer {
  double score;
  bool is_yes;
};

/// Calls f(positives, negatives) with both numbers for each different score, from the highest down.
template <class F>
void for_each_score(std::span<const RankedAnswer> answers, const F& f) {
  for (size_t begin = 0; begin < answers.size();) {
    double yes = 0;
    double no = 0;
    size_t end = begin;
    for (; end < answers.size() && answers[end].score == answers[begin].score; ++end)
      (answers[end].is_yes ? yes : no) += 1;
    f(yes, no);
    begin = end;
  }
}

/// A figure of scores with positive and negative labels, sorted from the highest score down; it must not
/// depend on the order of equal scores. NaN: there is none.
using RankingMeasure = double (*)(std::span<const RankedAnswer> answers);

/// Collects rows of scores and labels of all samples, so the figure is exact. Shapes: logits [N, K...],
/// labels of their size -> ([N, 2 K], N); logits [N, C], labels int32 [N] -> ([N, C + 1], N). `of_nothing`:
/// the figure if there is none. Errors: as ModelView::class_numbers; ConfigError for a class that does not
/// exist.
SumAndWeight ranking(const ModelView& model, const RankingFields& fields, RankingMeasure measure,
                     double of_nothing, const std::string& owner);

/// Errors: ConfigError.
void check_ranking(const RankingFields& fields, const std::string& owner);

}  // namespace tpack
