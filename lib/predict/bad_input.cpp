#include "predict/bad_input.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/text.h"
#include "costs/label_range.h"
#include "graph/tower_description.h"
#include "layers/embeddings.h"
#include "tensor/finite.h"

namespace tpack {
namespace {

/// The first row of labels [N, C] that is not a distribution, and what is wrong with it.
std::optional<std::pair<int64_t, std::string>> first_bad_distribution(const Tensor& labels) {
  const int64_t classes = labels.shape()[1];
  for (int64_t row = 0; row < labels.shape()[0]; ++row) {
    double sum = 0;
    for (int64_t k = 0; k < classes; ++k) {
      const double value = labels.at(row * classes + k);
      if (value < -kLabelRounding || value > 1 + kLabelRounding) return {{row, shortest(value)}};
      sum += value;
    }
    if (std::abs(sum - 1) > kSumRounding) return {{row, "the sum " + shortest(sum)}};
  }
  return std::nullopt;
}

/// Why a batch of labels does not have two samples of one class and one of another; "" if it has them.
std::string lack_of_pairs(const Tensor& labels) {
  std::set<double> classes;
  for (int64_t i = 0; i < labels.elements(); ++i) classes.insert(labels.at(i));
  if (std::ssize(classes) == labels.elements()) return "no two samples of one class";
  return classes.size() == 1 ? "samples of only one class" : "";
}

}  // namespace

void BadInputFinder::look_at_model() {
  if (has_looked_) return;
  const Graph& graph = tower_.description().graph();
  choices_ = numbered_choices(graph, tower_);
  probabilities_ = inputs_found(graph, tower_, labels_checked_by);
  distributions_ = inputs_found(graph, tower_, labels_summed_by);
  compared_ = inputs_found(graph, tower_, labels_compared_by);
  has_looked_ = true;
}

bool BadInputFinder::has_choices() {
  look_at_model();
  return !choices_.empty() || !probabilities_.empty() || !compared_.empty();
}

std::optional<BadInput> BadInputFinder::look_at(size_t input, const Tensor& values,
                                                const std::string& where) {
  look_at_model();
  const TowerInput& known = tower_.inputs()[input];
  const std::string called =
      "input '" + known.name + "'" + (known.position.known() ? " (" + known.position.str() + ")" : "");
  const std::string component = "component '" + known.component + "' of data." + flow_;
  const std::string bad = bad_element(values);
  if (!bad.empty())
    return BadInput{called + " has " + bad + where,
                    "it is in " + component + ": remove or replace such values"};
  const auto first_outside = [&values](double least, double most, std::optional<double> ignored = {}) {
    const auto is_good = [&](double value) { return (value >= least && value <= most) || value == ignored; };
    int64_t i = 0;
    while (i < values.elements() && is_good(values.at(i))) ++i;
    return i < values.elements() ? std::optional(i) : std::nullopt;
  };
  const auto has = [&](int64_t i) {
    return called + " has " + shortest(values.at(i)) + " at " + place_of(i, values.shape()) + where;
  };
  for (const NumberedChoice& choice : choices_) {
    if (choice.input != input || !choice.makes_nan) continue;
    const auto most = static_cast<double>(choice.count - 1);
    if (const auto i = first_outside(0, most, choice.ignored))
      return BadInput{has(*i) + ", but there are " + choice.str() + " (" + choice.node->path + ")",
                      component + " must be from 0 to " + shortest(most)};
  }
  const auto is_in = [input](const std::vector<size_t>& all) {
    return std::find(all.begin(), all.end(), input) != all.end();
  };
  const bool is_distribution = is_in(distributions_);
  const bool is_probability = is_in(probabilities_) && !is_distribution;
  if (const auto i = first_outside(-kLabelRounding, 1 + kLabelRounding); is_probability && i)
    return BadInput{has(*i) + ", but labels of SigmoidCrossEntropy are from 0 to 1",
                    component +
                        " must be from 0 to 1; to convert -1 and 1 to 0 and 1, use MapData with Scale: "
                        "{scale: 0.5, offset: 0.5}"};
  if (const auto row = is_distribution ? first_bad_distribution(values) : std::nullopt)
    return BadInput{called + " has " + row->second + " for sample " + std::to_string(row->first) + where +
                        ", but soft labels of SoftmaxCrossEntropy are probabilities that add up to 1",
                    component + " must add up to 1; for several labels per sample, use SigmoidCrossEntropy"};
  if (const std::string lack = is_in(compared_) ? lack_of_pairs(values) : ""; !lack.empty())
    return BadInput{called + " has " + lack + " among " + std::to_string(values.elements()) + where,
                    "add ClassBalanced: {component: " + known.component + ", in_a_row: 4} before the " +
                        "BatchData of data." + flow_ + ", or raise batch_size"};
  return std::nullopt;
}

std::optional<BadInput> BadInputFinder::find(std::span<const Tensor> batch, const std::string& where) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (auto bad = look_at(i, batch[i], where)) return bad;
  }
  return std::nullopt;
}

}  // namespace tpack
