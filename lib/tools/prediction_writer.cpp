#include "tools/prediction_writer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "system/file_io.h"

namespace tpack {
namespace {

/// Where text formats go: standard output, or a file that has its name once it is whole. What is
/// no regular file (a pipe) is written as it is.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path) : path_(link_target(path)), written_(path_) {
    if (path_.empty()) return;
    if (is_replaceable(path_)) written_ = temporary_name(path_);
    file_.open(written_);
    if (!file_) throw ResourceError(path_ + ": cannot be written: " + std::strerror(errno));
  }
  ~TextOutput() {
    std::error_code failure;
    if (written_ != path_) std::filesystem::remove(written_, failure);
  }
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  std::ostream& stream() { return path_.empty() ? std::cout : file_; }
  void finish() {
    stream().flush();
    if (file_.is_open()) file_.close();
    std::error_code failure;
    if (stream() && written_ != path_) std::filesystem::rename(written_, path_, failure);
    if (!stream() || failure)
      throw ResourceError((path_.empty() ? "stdout" : path_) + ": was not written completely");
  }

 private:
  std::string path_;
  std::string written_;  // the name until it is finished
  std::ofstream file_;
};

/// An element; of single precision the double whose text is as short.
double element(const Tensor& value, int64_t index) {
  const double exact = value.at(index);
  if (value.dtype() != DType::kFloat32 || !std::isfinite(exact)) return exact;
  const std::string text = shortest(static_cast<float>(exact));
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Values of any tensor as nested lists.
nlohmann::json as_json(const Tensor& value) {
  if (value.shape().rank() == 0) return element(value, 0);
  auto list = nlohmann::json::array();
  for (int64_t i = 0; i < value.shape()[0]; ++i) list.push_back(as_json(value.row(i)));
  return list;
}

/// The number of the first output of a role.
std::optional<size_t> first_of(const std::vector<WrittenOutput>& outputs, OutputRole role) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].role == role) return i;
  return std::nullopt;
}

/// {"file": ..., "label": ..., "score": ..., "top": [...], "labels": [...], "outputs": {...}}, or {"file":
/// ..., "error": ...}; label, score and top if an output is of classes, labels if one is a set.
class JsonLines final : public PredictionWriter {
 public:
  explicit JsonLines(const WriterOptions& options)
      : options_(options),
        classes_(first_of(options.outputs, OutputRole::kClasses)),
        set_(first_of(options.outputs, OutputRole::kLabelSet)),
        output_(options.output) {}

  void write(const Prediction& p) override {
    nlohmann::ordered_json line = {{"file", printable(p.file)}};
    if (!p.error.empty()) {
      line["error"] = printable(p.error);
    } else {
      if (classes_) add_classes(p.outputs[*classes_], line);
      if (set_) line["labels"] = labels_that_hold(p.outputs[*set_], options_.labels, options_.threshold);
      for (size_t i = 0; i < p.outputs.size(); ++i) {
        const bool is_picture = options_.outputs[i].role == OutputRole::kPicture;
        line["outputs"][options_.outputs[i].name] =
            is_picture ? nlohmann::json(p.pictures[i]) : as_json(p.outputs[i]);
      }
    }
    output_.stream() << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  void flush() override { output_.stream().flush(); }
  void finish() override { output_.finish(); }

 private:
  void add_classes(const Tensor& scores, nlohmann::ordered_json& line) const {
    const auto ranked = top_classes(scores, options_.labels, options_.top_k, options_.threshold);
    line["label"] = ranked[0].label;
    line["score"] = ranked[0].score;
    if (options_.top_k == 1) return;
    for (const Ranked& one : ranked) line["top"].push_back({{"label", one.label}, {"score", one.score}});
  }

  WriterOptions options_;
  std::optional<size_t> classes_;
  std::optional<size_t> set_;
  TextOutput output_;
};

/// file; label,score,label_2,score_2,... of the first output of classes; labels, with ';' between them, of
/// the first set; a column for each further output, its values with spaces between, or the path of its
/// picture; error.
class CsvWriter final : public PredictionWriter {
 public:
  explicit CsvWriter(const WriterOptions& options)
      : options_(options),
        classes_(first_of(options.outputs, OutputRole::kClasses)),
        set_(first_of(options.outputs, OutputRole::kLabelSet)),
        output_(options.output) {
    write_row(options.columns.empty() ? usual_columns() : options.columns);
  }

  void write(const Prediction& p) override {
    if (!options_.columns.empty()) return write_columns(p);
    const bool is_good = p.error.empty();
    std::vector<std::string> fields = {p.file};
    if (classes_) {
      const auto ranked =
          is_good ? top_classes(p.outputs[*classes_], options_.labels, options_.top_k, options_.threshold)
                  : std::vector<Ranked>();
      for (size_t k = 0; k < static_cast<size_t>(options_.top_k); ++k) {
        fields.push_back(k < ranked.size() ? ranked[k].label : "");
        fields.push_back(k < ranked.size() ? csv_field(ranked[k].score) : "");
      }
    }
    if (set_) fields.push_back(is_good ? label_set(p.outputs[*set_]) : "");
    for (size_t i = 0; i < options_.outputs.size(); ++i)
      if (has_values(i)) fields.push_back(is_good ? values(p, i) : "");
    fields.push_back(p.error);
    write_row(fields);
  }
  void flush() override { output_.stream().flush(); }
  void finish() override { output_.finish(); }

 private:
  /// Errors: ConfigError if two have one name.
  std::vector<std::string> usual_columns() const {
    std::vector<std::string> columns = {"file"};
    for (int k = 1; classes_ && k <= options_.top_k; ++k) {
      const std::string number = k == 1 ? "" : "_" + std::to_string(k);
      columns.push_back("label" + number);
      columns.push_back("score" + number);
    }
    if (set_) columns.emplace_back("labels");
    for (size_t i = 0; i < options_.outputs.size(); ++i)
      if (has_values(i)) columns.push_back(options_.outputs[i].name);
    columns.emplace_back("error");
    for (size_t i = 0; i < columns.size(); ++i) {
      if (std::count(columns.begin(), columns.end(), columns[i]) > 1)
        throw ConfigError("--format csv would have two columns '" + columns[i] +
                          "'; rename the output in predict.outputs, or use jsonl");
    }
    return columns;
  }

  /// The columns that were asked for. Errors: ConfigError if more than one is none of the table and of the
  /// outputs.
  void write_columns(const Prediction& p) {
    std::vector<std::string> fields;
    std::vector<std::string> predicted;
    for (const std::string& column : options_.columns) {
      const auto text = p.columns.find(column);
      const auto output = std::find_if(options_.outputs.begin(), options_.outputs.end(),
                                       [&](const WrittenOutput& one) { return one.name == column; });
      const auto element_of_class = class_column(column);
      if (text != p.columns.end()) {
        fields.push_back(text->second);
      } else if (element_of_class) {
        const auto [number, index] = *element_of_class;
        fields.push_back(p.error.empty() ? csv_field(element(p.outputs[number], index)) : "");
      } else if (column == "file") {
        fields.push_back(p.file);
      } else if (output != options_.outputs.end()) {
        fields.push_back(p.error.empty() ? values(p, static_cast<size_t>(output - options_.outputs.begin()))
                                         : "");
      } else {
        predicted.push_back("'" + column + "'");
        fields.push_back(p.error.empty() ? prediction(p) : "");
      }
    }
    if (predicted.size() > 1 && p.error.empty())
      throw ConfigError("--columns: " + join(predicted, " and ") + " are no columns of " + p.file +
                        " and no outputs; only one may be the name of the prediction");
    write_row(fields);
  }
  /// "probability.churn": the output and the place in it of the probability of a class; nothing for other
  /// names.
  std::optional<std::pair<size_t, int64_t>> class_column(const std::string& column) const {
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      const WrittenOutput& output = options_.outputs[i];
      const bool has_names = output.role == OutputRole::kClasses || output.role == OutputRole::kLabelSet;
      if (!has_names || !column.starts_with(output.name + ".")) continue;
      const std::string label = column.substr(output.name.size() + 1);
      const auto found = std::find(options_.labels.begin(), options_.labels.end(), label);
      if (found != options_.labels.end()) return std::pair(i, found - options_.labels.begin());
      throw ConfigError("--columns: '" + column + "': no class '" + label + "'" +
                        did_you_mean(label, options_.labels) + "; the classes are " +
                        join_first(options_.labels));
    }
    return std::nullopt;
  }
  /// The class, the labels, or the values of the first output.
  std::string prediction(const Prediction& p) const {
    if (classes_) return top_classes(p.outputs[*classes_], options_.labels, 1, options_.threshold)[0].label;
    return set_ ? label_set(p.outputs[*set_]) : values(p, 0);
  }

  /// What is named is not written again as values.
  bool has_values(size_t output) const { return classes_ != output && set_ != output; }
  void write_row(const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i)
      output_.stream() << (i == 0 ? "" : ",") << csv_field(fields[i]);
    output_.stream() << "\n";
  }
  std::string label_set(const Tensor& probabilities) const {
    return join(labels_that_hold(probabilities, options_.labels, options_.threshold), ";");
  }
  std::string values(const Prediction& p, size_t output) const {
    if (options_.outputs[output].role == OutputRole::kPicture) return p.pictures[output];
    const Tensor& x = p.outputs[output];
    std::string text;
    for (int64_t i = 0; i < x.elements(); ++i) text += (i == 0 ? "" : " ") + csv_field(element(x, i));
    return text;
  }

  WriterOptions options_;
  std::optional<size_t> classes_;
  std::optional<size_t> set_;
  TextOutput output_;
};

/// One dataset [files, ...] an output, NaN for files that could not be read, and the texts `files`, `errors`
/// (empty lines if there was none) and `labels`, one a line.
class Hdf5 final : public PredictionWriter {
 public:
  explicit Hdf5(WriterOptions options) : options_(std::move(options)) {
    if (options_.output.empty()) throw ConfigError("--format hdf5 needs --output FILE");
    check_names();
  }
  void write(const Prediction& p) override { all_.push_back(p); }

  void finish() override {
    CheckpointContent content;
    std::string files;
    std::string errors;
    for (const Prediction& p : all_) {
      files += one_line(printable(p.file)) + "\n";
      errors += one_line(p.error) + "\n";
    }
    content.texts["files"] = files;
    content.texts["errors"] = errors;
    content.texts["labels"] = join(options_.labels, "\n");
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      if (const auto rows = stacked(i)) content.tensors[options_.outputs[i].name] = *rows;
    }
    save_checkpoint(options_.output, content);
  }

 private:
  static std::string one_line(std::string text) {
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
    return text;
  }
  /// An output is a dataset of its name, or below groups of the words before the last slash.
  void check_names() const {
    std::vector<std::string> taken = {"files", "errors", "labels"};
    for (const auto& [name, role] : options_.outputs) {
      for (const std::string& other : taken) {
        if (name == other || name.starts_with(other + "/") || other.starts_with(name + "/")) {
          throw ConfigError("--format hdf5 cannot hold output '" + name + "' next to '" + other +
                            "'; rename it in predict.outputs, or use jsonl");
        }
      }
      taken.push_back(name);
    }
  }
  std::optional<Tensor> stacked(size_t output) const {
    const auto good = std::find_if(all_.begin(), all_.end(), [](const auto& p) { return p.error.empty(); });
    if (good == all_.end()) return std::nullopt;
    const Shape shape = good->outputs[output].shape();
    Tensor rows(DType::kFloat32, shape.prepend(static_cast<int64_t>(all_.size())));
    std::fill_n(rows.data<float>(), rows.elements(), std::numeric_limits<float>::quiet_NaN());
    for (size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].error.empty()) continue;
      const Tensor row = all_[i].outputs[output].cast(DType::kFloat32);
      std::memcpy(rows.row(static_cast<int64_t>(i)).raw(), row.raw(), row.bytes());
    }
    return rows;
  }

  WriterOptions options_;
  std::vector<Prediction> all_;
};

}  // namespace

std::vector<Ranked> top_classes(const Tensor& scores, const std::vector<std::string>& labels, int count,
                                double threshold) {
  std::vector<int64_t> order(static_cast<size_t>(scores.elements()));
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int64_t index) {
    const double score = scores.at(index);
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
  if (order.size() == 2 && threshold != 0.5 && std::isfinite(scores.at(1)))
    order = scores.at(1) >= threshold ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 1};
  std::vector<Ranked> ranked;
  for (size_t k = 0; k < order.size() && k < static_cast<size_t>(count); ++k) {
    const auto index = static_cast<size_t>(order[k]);
    ranked.push_back(
        {index < labels.size() ? labels[index] : std::to_string(index), element(scores, order[k])});
  }
  return ranked;
}

std::vector<std::string> labels_that_hold(const Tensor& probabilities, const std::vector<std::string>& labels,
                                          double threshold) {
  std::vector<std::string> held;
  for (int64_t i = 0; i < probabilities.elements(); ++i)
    if (probabilities.at(i) >= threshold) held.push_back(labels[static_cast<size_t>(i)]);
  return held;
}

std::unique_ptr<PredictionWriter> make_prediction_writer(const WriterOptions& options) {
  if (options.format == "csv") return std::make_unique<CsvWriter>(options);
  if (options.format == "hdf5") return std::make_unique<Hdf5>(options);
  return std::make_unique<JsonLines>(options);
}

}  // namespace tpack
