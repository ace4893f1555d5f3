#include "predict/class_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

constexpr size_t kMostInMatrix = 15;  // columns of a terminal
constexpr size_t kMostRows = 30;
constexpr size_t kShownOfMany = 10;

/// Whether one logit decides between two classes.
bool is_of_two(const PredictionTarget& target) { return target.has_logits() && target.classes->exclusive; }

bool is_set(const PredictionTarget& target) { return target.classes && !target.classes->exclusive; }

/// The class with the highest score, or for two classes, the one chosen by the threshold; empty if a score is
/// not finite.
std::optional<int64_t> best_class(const PredictionTarget& target, const Tensor& scores, int64_t row,
                                  int64_t pixels) {
  const int64_t classes = scores.shape()[1];
  return visit(scores.dtype(), [&](auto zero) -> std::optional<int64_t> {
    const auto* first = scores.data<decltype(zero)>() + row / pixels * pixels * classes + row % pixels;
    int64_t best = 0;
    for (int64_t c = 0; c < classes; ++c) {
      const auto score = first[c * pixels];
      if (!std::isfinite(static_cast<double>(score))) return std::nullopt;
      if (score > first[best * pixels]) best = c;
    }
    if (classes != 2) return best;
    const double logit = static_cast<double>(first[pixels]) - static_cast<double>(first[0]);
    return ClassReport::is_yes(target, logit) ? 1 : 0;
  });
}

double part(double of, double whole) { return whole > 0 ? of / whole : 0; }

std::string figure(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

void add(TextTable& table, const ClassReport::Row& row) {
  table.add({row.name, figure(row.precision), figure(row.recall), figure(row.f1), short_text(row.samples)});
}

}  // namespace

int64_t ClassReport::classes_of(const PredictionTarget& target) {
  const size_t rank = target.predictions.shape().rank();
  const bool has_report =
      is_of_two(target) || (target.classes && rank == 2) || (target.has_scores() && rank == 4);
  const int64_t classes = has_report ? target.classes->count : 0;
  return classes > kMostClasses ? 0 : classes;
}

bool ClassReport::tells_two(const PredictionTarget& target) {
  return classes_of(target) == 2 && !is_set(target);
}

bool ClassReport::has_threshold(const PredictionTarget& target) {
  return tells_two(target) || (target.has_logits() && classes_of(target) > 0);
}

bool ClassReport::is_yes(const PredictionTarget& target, double logit) {
  const double threshold = target.threshold;
  return threshold == 0.5 ? logit > 0 : logit >= std::log(threshold / (1 - threshold));
}

std::optional<int64_t> ClassReport::predicted(const PredictionTarget& target, const Tensor& predictions,
                                              int64_t row, int64_t pixels) {
  if (target.has_scores()) return best_class(target, predictions, row, pixels);
  const double logit = predictions.at(row);
  return std::isfinite(logit) ? std::optional<int64_t>(is_yes(target, logit) ? 1 : 0) : std::nullopt;
}

std::vector<std::string> ClassReport::names_of(const PredictionTarget& target,
                                               std::vector<std::string> of_data) {
  if (is_of_two(target) && of_data.size() == 1) return {"not " + of_data[0], of_data[0]};
  return of_data;
}

size_t ClassReport::parts_of(const PredictionTarget& target) {
  const auto classes = static_cast<size_t>(classes_of(target));
  if (classes == 0) return 0;
  return is_set(target) ? 4 * classes + 2 : classes * (classes + 1);
}

namespace {

bool is_ignored(const PredictionTarget& target, double truth) {
  return target.ignored && truth == *target.ignored;
}

/// The matrix by rows, with a column for no prediction.
void count_matrix(const PredictionTarget& target, const Tensor& predictions, const Tensor& targets,
                  int64_t classes, std::span<double> parts) {
  const Shape& shape = predictions.shape();
  const int64_t pixels = shape.rank() == 4 ? shape[2] * shape[3] : 1;
  for (int64_t n = 0; n < shape[0] * pixels; ++n) {
    const double truth = targets.at(n);
    if (is_ignored(target, truth)) continue;
    const double label = is_of_two(target) ? static_cast<double>(truth > 0.5) : truth;
    if (!(label >= 0 && label < static_cast<double>(classes))) continue;
    const int64_t taken_for = ClassReport::predicted(target, predictions, n, pixels).value_or(classes);
    ++parts[static_cast<size_t>(static_cast<int64_t>(label) * (classes + 1) + taken_for)];
  }
}

/// For each label, the numbers of samples with (no, no), (no, yes), (yes, no), (yes, yes) as truth and
/// prediction; then all samples, and right samples.
void count_set(const PredictionTarget& target, const Tensor& predictions, const Tensor& targets,
               size_t labels, std::span<double> parts) {
  for (int64_t n = 0; n < predictions.shape()[0]; ++n) {
    bool is_right = true;
    bool counts = false;
    for (size_t c = 0; c < labels; ++c) {
      const int64_t at = n * static_cast<int64_t>(labels) + static_cast<int64_t>(c);
      const double truth = targets.at(at);
      if (is_ignored(target, truth)) continue;
      counts = true;
      const double score = predictions.at(at);
      const size_t actual = truth > 0.5 ? 1 : 0;
      const size_t says = ClassReport::is_yes(target, score) ? 1 : 0;
      ++parts[4 * c + 2 * actual + says];
      is_right &= actual == says && std::isfinite(score);
    }
    if (!counts) continue;
    ++parts[4 * labels];
    parts[4 * labels + 1] += is_right ? 1 : 0;
  }
}

}  // namespace

void ClassReport::count(const PredictionTarget& target, const Tensor& predictions, const Tensor& targets,
                        std::span<double> parts) {
  const int64_t classes = classes_of(target);
  if (is_set(target))
    count_set(target, predictions, targets, static_cast<size_t>(classes), parts);
  else
    count_matrix(target, predictions, targets, classes, parts);
}

ClassReport::ClassReport(const PredictionTarget& target, const std::vector<std::string>& names,
                         std::vector<double> parts)
    : term_(target.term),
      threshold_(target.threshold),
      unit_(target.predictions.shape().rank() == 4 ? "pixels" : "samples"),
      is_set_(is_set(target)),
      parts_(std::move(parts)) {
  const auto classes = static_cast<size_t>(classes_of(target));
  for (size_t c = 0; c < classes; ++c) {
    const std::string number = is_of_two(target) ? (c == 1 ? "yes" : "no") : std::to_string(c);
    classes_.push_back(c < names.size() ? names[c] : number);
  }
  for (size_t c = 0; c < classes; ++c) {
    if (is_set_) {
      const double* of = &parts_[4 * c];
      add_row(c, of[3], of[1] + of[3], of[2] + of[3]);
      continue;
    }
    double predicted = 0;
    double actual = count(c, classes);
    for (size_t other = 0; other < classes; ++other) {
      predicted += count(other, c);
      actual += count(c, other);
    }
    add_row(c, count(c, c), predicted, actual);
  }
}

void ClassReport::add_row(size_t label, double right, double predicted, double actual) {
  Row row{classes_[label], part(right, predicted), part(right, actual), 0, actual, predicted};
  row.f1 = part(2 * right, predicted + actual);
  rows_.push_back(row);
}

ClassReport::Row ClassReport::mean(const std::string& name,
                                   const std::function<double(const Row&)>& weight) const {
  Row mean{name, 0, 0, 0, samples(), samples()};
  double all = 0;
  for (const Row& row : rows_) all += weight(row);
  for (const Row& row : rows_) {
    mean.precision += part(row.precision * weight(row), all);
    mean.recall += part(row.recall * weight(row), all);
    mean.f1 += part(row.f1 * weight(row), all);
  }
  return mean;
}

ClassReport::Row ClassReport::macro() const {
  return mean("mean", [](const Row& row) { return row.samples + row.predicted > 0 ? 1.0 : 0.0; });
}

ClassReport::Row ClassReport::weighted() const {
  return mean("weighted mean", [](const Row& row) { return row.samples; });
}

double ClassReport::samples() const {
  if (is_set_) return parts_[parts_.size() - 2];
  double all = 0;
  for (const double count : parts_) all += count;
  return all;
}

namespace {
constexpr std::array<std::pair<const char*, double ClassReport::Row::*>, 3> kFigures = {
    {{"precision.", &ClassReport::Row::precision},
     {"recall.", &ClassReport::Row::recall},
     {"f1.", &ClassReport::Row::f1}}};
}  // namespace

std::optional<double> ClassReport::figure(const std::string& name) const {
  for (const auto& [prefix, member] : kFigures) {
    for (const Row& row : rows_)
      if (name == prefix + row.name) return row.*member;
  }
  return std::nullopt;
}

bool ClassReport::may_be_figure(const std::string& name) {
  return std::any_of(kFigures.begin(), kFigures.end(),
                     [&](const auto& one) { return name.starts_with(one.first); });
}

std::vector<std::string> ClassReport::figures_of(const std::vector<std::string>& classes) {
  std::vector<std::string> all;
  for (const auto& [prefix, member] : kFigures) {
    for (const std::string& name : classes) all.push_back(prefix + name);
  }
  return all;
}

double ClassReport::accuracy() const {
  if (is_set_) return part(parts_.back(), samples());
  double right = 0;
  for (size_t c = 0; c < classes_.size(); ++c) right += count(c, c);
  return part(right, samples());
}

double ClassReport::count(size_t actual, size_t predicted) const {
  return parts_[actual * (classes_.size() + 1) + predicted];
}

Matrix ClassReport::matrix() const {
  Matrix matrix{"actual", "predicted", classes_, classes_, {}};
  for (size_t actual = 0; actual < classes_.size(); ++actual) {
    for (size_t predicted = 0; predicted < classes_.size(); ++predicted)
      matrix.values.push_back(count(actual, predicted));
  }
  return matrix;
}

std::string ClassReport::str() const {
  TextTable table({"class", "precision", "recall", "F1", unit_});
  const bool shows_all = rows_.size() <= kMostRows;
  std::vector<Row> shown = rows_;
  if (!shows_all) {
    std::stable_sort(shown.begin(), shown.end(), [](const Row& a, const Row& b) { return a.f1 < b.f1; });
    std::erase_if(shown, [](const Row& row) { return row.samples == 0; });
    shown.resize(std::min(shown.size(), kShownOfMany));
  }
  for (const Row& row : shown) add(table, row);
  add(table, macro());
  add(table, weighted());
  std::string text = table.str();
  if (!shows_all)
    text = "the " + std::to_string(shown.size()) + " classes with the lowest F1, of " +
           std::to_string(rows_.size()) + "\n" + text;
  if (threshold_ != 0.5)
    text += (is_set_ ? "a label" : "'" + classes_[1] + "'") +
            " is predicted if its probability is at least " + short_text(threshold_) + "\n";
  if (is_set_) return text;
  return text + "\n" + (classes_.size() <= kMostInMatrix ? matrix_text() : pairs_text());
}

std::string ClassReport::matrix_text() const {
  double none = 0;
  for (size_t c = 0; c < classes_.size(); ++c) none += count(c, classes_.size());
  std::vector<std::string> header = {"actual \\ predicted"};
  header.insert(header.end(), classes_.begin(), classes_.end());
  if (none > 0) header.emplace_back("(none)");
  TextTable table(header);
  for (size_t actual = 0; actual < classes_.size(); ++actual) {
    std::vector<std::string> row = {classes_[actual]};
    for (size_t predicted = 0; predicted + 1 < header.size(); ++predicted)
      row.push_back(short_text(count(actual, predicted)));
    table.add(row);
  }
  return table.str();
}

std::string ClassReport::pairs_text() const {
  struct Pair {
    double samples;
    size_t actual;
    size_t predicted;
  };
  std::vector<Pair> pairs;
  for (size_t actual = 0; actual < classes_.size(); ++actual) {
    for (size_t predicted = 0; predicted < classes_.size(); ++predicted) {
      const double samples = count(actual, predicted);
      if (samples > 0 && actual != predicted) pairs.push_back({samples, actual, predicted});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.samples > b.samples; });
  pairs.resize(std::min(pairs.size(), kShownOfMany));
  TextTable table({"actual", "most often confused with", unit_});
  for (const Pair& pair : pairs)
    table.add({classes_[pair.actual], classes_[pair.predicted], short_text(pair.samples)});
  return table.str();
}

nlohmann::ordered_json ClassReport::to_json() const {
  using Json = nlohmann::ordered_json;
  const auto row_json = [](const Row& row) {
    return Json{{"class", row.name},
                {"precision", row.precision},
                {"recall", row.recall},
                {"f1", row.f1},
                {"samples", row.samples}};
  };
  Json json = {{"cost", term_}, {"samples", samples()}, {"accuracy", accuracy()}};
  if (threshold_ != 0.5) json["threshold"] = threshold_;
  json["classes"] = Json::array();
  for (const Row& row : rows_) json["classes"].push_back(row_json(row));
  for (const auto& [key, mean] : {std::pair("macro", macro()), std::pair("weighted", weighted())}) {
    json[key] = row_json(mean);
    json[key].erase("class");
  }
  if (is_set_) return json;
  json["confusion"] = Json::array();
  for (size_t actual = 0; actual < classes_.size(); ++actual) {
    Json row = Json::array();
    for (size_t predicted = 0; predicted < classes_.size(); ++predicted)
      row.push_back(count(actual, predicted));
    json["confusion"].push_back(std::move(row));
  }
  return json;
}

}  // namespace tpack
