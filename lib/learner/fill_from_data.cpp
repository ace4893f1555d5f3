#include "learner/fill_from_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/text.h"
#include "dataflow/count_classes.h"
#include "dataflow/moments.h"
#include "dataflow/source.h"
#include "system/log.h"

namespace tpack {
namespace {

/// The component of the data for that input of the model.
std::string component_of(const ModelParts& parts, const std::string& input) {
  for (const TowerInput& one : parts.tower->inputs())
    if (one.name == input) return one.component;
  return input;
}

/// The class counts of a component of data.train: of the training samples, or of the pixels of masks.
std::vector<ClassCount> classes_in(const DataFlow& train, const std::string& component,
                                   const Position& where) {
  if (const auto classes = count_classes(train, component)) {
    std::vector<ClassCount> counts;
    for (const auto& [name, samples] : *classes) counts.push_back({name, samples});
    return counts;
  }
  throw ConfigError(where, "the classes of '" + component +
                               "' cannot be counted: no source of data.train has class numbers with that "
                               "name; write a list of weights");
}

std::string three_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

/// Logs the weights, and warns if one class dominates.
void report_weights(const std::vector<ClassCount>& counts, const std::vector<double>& weights,
                    const Position& where) {
  std::vector<std::string> texts;
  for (size_t k = 0; k < weights.size(); ++k) {
    const bool has_name = k < counts.size() && !counts[k].name.empty();
    texts.push_back((has_name ? counts[k].name : std::to_string(k)) + " " + three_digits(weights[k]));
  }
  log::info("class_weights: " + join_first(texts));
  const auto [least, most] = std::ranges::minmax(weights);
  constexpr double kFar = 300;
  if (least > 0 && most / least > kFar)
    log::warning(Problem{where, "class_weights go from " + three_digits(least) + " to " + three_digits(most) +
                                    ": a few samples or pixels dominate the gradient; smaller ratios, such "
                                    "as [1, 10], often work better"}
                     .str());
}

std::vector<double> value_of_classes(const ModelParts& parts, const DataFlow& train,
                                     const VariableSpec& variable) {
  const ClassesOfInput& of = *variable.of_classes;
  const std::vector<ClassCount> counts = classes_in(train, component_of(parts, of.input), of.position);
  std::vector<std::string> absent;
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k].samples == 0) absent.push_back(counts[k].name.empty() ? std::to_string(k) : counts[k].name);
  if (!absent.empty()) log::warning("class_weights: data.train has no sample of " + join_first(absent));
  std::vector<double> weights = of.value(counts, static_cast<size_t>(variable.spec.shape.elements()));
  report_weights(counts, weights, of.position);
  return weights;
}

/// For a component with a known shape.
int64_t numbers_of_sample(const DataFlow& train, const ComponentRef& component) {
  const Shape& shape = train.spec()[train.spec().index(component, "data.train")].tensor.shape;
  int64_t numbers = 1;
  for (int axis = train.batch_size() ? 1 : 0; axis < static_cast<int>(shape.rank()); ++axis)
    numbers *= shape[axis];
  return numbers;
}

/// The means, then the deviations.
std::vector<double> value_of_numbers(const ModelParts& parts, const DataFlow& train,
                                     const VariableSpec& variable) {
  const NumbersOfInput& of = *variable.of_numbers;
  ComponentRef component(component_of(parts, of.input).c_str());
  component.position = of.position;
  if (!may_look_at(train))
    throw ConfigError(of.position, "the mean and deviation of '" + of.input +
                                       "' are not known before training, because the samples of data.train "
                                       "come only once; write the numbers, as in Elementwise: 30 * x + 40");
  const int64_t columns = variable.spec.shape[1];
  const int64_t known = numbers_of_sample(train, component);
  if (known != columns)
    throw ConfigError(of.position, "'" + of.input + "' has " + std::to_string(known) +
                                       (known == 1 ? " number" : " numbers") + " in each sample, but x has " +
                                       std::to_string(columns) + " columns");
  std::vector<double> means;
  std::vector<double> deviations;
  const bool has_images = std::ranges::any_of(train.spec(), &ComponentSpec::is_image);
  constexpr int64_t kEnough = 10'000;  // if each sample is decoded
  const int64_t most = has_images ? kEnough : std::numeric_limits<int64_t>::max();
  const auto value = [&](double x) {
    if (!of.log1p) return x;
    if (x <= -1)
      throw ConfigError(of.position,
                        "'" + of.input + "' has " + shortest(x) +
                            " in data.train, but log(1 + x) needs numbers above -1; remove `log: true`");
    return std::log1p(x);
  };
  for (const Moments& column : moments_of(train, component, static_cast<size_t>(columns), most, value)) {
    if (column.count == 0 || !std::isfinite(column.squares))
      throw ConfigError(of.position,
                        "the mean and deviation of '" + of.input + "' are not finite: data.train has " +
                            (column.count == 0 ? "no samples" : "numbers that are not finite or too large"));
    means.push_back(column.mean);
    deviations.push_back(column.squares > 0 ? column.deviation() : 1);
  }
  means.insert(means.end(), deviations.begin(), deviations.end());
  return means;
}

}  // namespace

bool fill_from_data(const ModelParts& parts, VariableStore& store) {
  bool has_any = false;
  for (const VariableSpec* spec : store.table().all()) {
    if (!spec->of_classes && !spec->of_numbers) continue;
    const DataFlow* train = parts.train_flow();
    if (train == nullptr)
      throw ConfigError(spec->of_classes ? spec->of_classes->position : spec->of_numbers->position,
                        "the " + std::string(spec->of_classes ? "classes" : "numbers") +
                            " of the training data are needed; there is no data.train");
    const std::vector<double> value =
        spec->of_classes ? value_of_classes(parts, *train, *spec) : value_of_numbers(parts, *train, *spec);
    store.set(spec->name, Tensor::of<double>(spec->spec.shape, value).cast(spec->spec.dtype));
    has_any = true;
  }
  return has_any;
}

}  // namespace tpack
