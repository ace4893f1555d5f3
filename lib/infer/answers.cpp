#include "infer/answers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kPrediction = "prediction";
constexpr const char* kScore = "score";
constexpr const char* kTrue = "true";
constexpr const char* kProbability = "probability";

bool tells_classes(const WrittenOutput& output) { return output.classes > 0; }
bool has_classes(const WrittenOutput& output) { return tells_classes(output) || output.is_label_set; }

template <class Condition>
std::optional<size_t> first_of(const std::vector<WrittenOutput>& outputs, Condition condition) {
  const auto found = std::find_if(outputs.begin(), outputs.end(), condition);
  return found == outputs.end() ? std::nullopt : std::optional(static_cast<size_t>(found - outputs.begin()));
}

/// The probabilities of both classes from the probability of the second one.
Tensor of_both(const Tensor& second) {
  const double p = second.at(0);
  return Tensor::of<float>({2}, {static_cast<float>(1 - p), static_cast<float>(p)});
}

std::string values_text(const Tensor& x) {
  std::string text;
  for (int64_t i = 0; i < x.elements(); ++i) text += (i == 0 ? "" : " ") + csv_field(element(x, i));
  return text;
}

}  // namespace

double element(const Tensor& value, int64_t index) {
  const double exact = value.at(index);
  if (value.dtype() != DType::kFloat32 || !std::isfinite(exact)) return exact;
  const std::string text = short_text(exact);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Answers::Answers(const WriterOptions& options)
    : options_(options),
      classes_(first_of(options.outputs, tells_classes)),
      set_(first_of(options.outputs, [](const WrittenOutput& one) { return one.is_label_set; })) {}

std::vector<Ranked> Answers::ranked(const Prediction& p) const {
  const Tensor& value = p.outputs[*classes_];
  const bool is_of_two = options_.outputs[*classes_].is_second_of_two();
  return top_classes(is_of_two ? of_both(value) : value, options_.labels, options_.top_k, options_.threshold);
}

std::vector<std::string> Answers::labels(const Prediction& p) const {
  return labels_that_hold(p.outputs[*set_], options_.labels, options_.threshold);
}

std::string Answers::values(const Prediction& p, size_t output) const {
  const bool is_picture = options_.outputs[output].is_picture;
  return is_picture ? p.pictures[output] : values_text(p.outputs[output]);
}

bool Answers::has_more(size_t output) const {
  if (options_.outputs[output].is_second_of_two()) return true;  // class of the number
  return classes_ != output && set_ != output;
}

std::string Answers::prediction(const Prediction& p) const {
  if (classes_) return ranked(p)[0].label;
  return set_ ? join(labels(p), ";") : values(p, 0);
}

/// In the form of the column `prediction`.
std::string Answers::truth(const Prediction& p) const {
  const Tensor& x = p.truth;
  const auto count = std::ssize(options_.labels);
  if (set_ && x.elements() == count) return join(labels_that_hold(x, options_.labels, 0.5), ";");
  if (x.elements() != 1 || !(classes_ || options_.true_is_class)) return values_text(x);
  const double number = x.at(0);
  const bool has_name = number >= 0 && number < static_cast<double>(count) && number == std::floor(number);
  return has_name ? options_.labels[static_cast<size_t>(number)] : csv_field(element(x, 0));
}

std::vector<std::string> Answers::class_names(size_t output) const {
  const bool is_of_two = options_.outputs[output].is_second_of_two();
  const auto count =
      is_of_two ? size_t{2} : static_cast<size_t>(std::max<int64_t>(0, options_.outputs[output].width));
  std::vector<std::string> names;
  for (size_t c = 0; c < count; ++c)
    names.push_back(c < options_.labels.size() ? options_.labels[c] : std::to_string(c));
  return names;
}

std::string Answers::probability(const Prediction& p, const Element& of) const {
  const bool is_of_two = options_.outputs[of.output].is_second_of_two();
  const Tensor& value = p.outputs[of.output];
  return csv_field(element(is_of_two ? of_both(value) : value, of.index));
}

std::optional<Answers::Element> Answers::class_element(const std::string& name) const {
  const auto& outputs = options_.outputs;
  std::optional<size_t> output = first_of(outputs, [&](const WrittenOutput& one) {
    return has_classes(one) && name.starts_with(one.name + ".");
  });
  std::string prefix = output ? outputs[*output].name : kProbability;
  if (!output && name.starts_with(prefix + ".")) output = classes_ ? classes_ : set_;
  if (!output) return std::nullopt;
  const std::string label = name.substr(prefix.size() + 1);
  const std::vector<std::string> known = class_names(*output);
  const auto found = std::find(known.begin(), known.end(), label);
  if (found != known.end()) return Element{*output, found - known.begin()};
  throw ConfigError("--columns: '" + name + "': no class '" + label + "'" + did_you_mean(label, known) +
                    "; the classes are " + join_first(known));
}

Answers::Text Answers::text_of_output(size_t output) const {
  return [this, output](const Prediction& p) { return values(p, output); };
}

std::optional<Answers::Text> Answers::find(const std::string& name) const {
  const std::optional<size_t> output =
      first_of(options_.outputs, [&](const WrittenOutput& one) { return one.name == name; });
  const bool means_two =
      output && (name == kTrue || (name == kPrediction && (*output > 0 || classes_ || set_)));
  if (means_two)
    throw ConfigError("--columns: an output of predict is called '" + name +
                      "', which has another meaning here; rename it in predict.outputs");
  if (output) return text_of_output(*output);
  if (name == kPrediction) return [this](const Prediction& p) { return prediction(p); };
  if (name == kTrue) return [this](const Prediction& p) { return truth(p); };
  if (name == kScore && classes_)
    return [this](const Prediction& p) { return csv_field(ranked(p)[0].score); };
  if (name == kProbability && (classes_ || set_))
    throw ConfigError("--columns: 'probability' needs a class; write " + join_first(names()));
  const auto of = class_element(name);
  if (!of) return std::nullopt;
  return [this, of = *of](const Prediction& p) { return probability(p, of); };
}

std::optional<Answers::Text> Answers::find_predicted(const std::string& column) const {
  const auto& columns = options_.true_columns;
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  const int64_t at = found - columns.begin();
  if (columns.size() == 1) return [this](const Prediction& p) { return prediction(p); };
  if (set_)
    return [this, at](const Prediction& p) {
      return std::string(p.outputs[*set_].at(at) >= options_.threshold ? "1" : "0");
    };
  if (options_.outputs[0].width != std::ssize(columns)) return std::nullopt;
  return [at](const Prediction& p) { return csv_field(element(p.outputs[0], at)); };
}

std::vector<std::string> Answers::names() const {
  std::vector<std::string> all = {kPrediction};
  if (classes_) all.emplace_back(kScore);
  for (size_t i = 0; i < options_.outputs.size(); ++i) {
    const WrittenOutput& output = options_.outputs[i];
    if (has_classes(output)) {
      const bool is_first = i == (classes_ ? classes_ : set_);
      for (const std::string& name : class_names(i))
        all.push_back((is_first ? kProbability : output.name) + ("." + name));
    } else if (output.name != kPrediction) {
      all.push_back(output.name);
    }
  }
  return all;
}

}  // namespace tpack
