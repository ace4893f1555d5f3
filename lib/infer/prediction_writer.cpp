#include "infer/prediction_writer.h"

#include <algorithm>
#include <cerrno>
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
#include "infer/answer_columns.h"
#include "infer/answers.h"
#include "system/file_io.h"

namespace tpack {
namespace {

/// The target of text formats: standard output, or a file that gets its name when complete. Anything that is
/// not a regular file (a pipe) is written directly.
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
  std::string written_;  // the temporary name
  std::ofstream file_;
};

/// Values of any tensor as nested lists.
nlohmann::json as_json(const Tensor& value) {
  if (value.shape().rank() == 0) return element(value, 0);
  auto list = nlohmann::json::array();
  for (int64_t i = 0; i < value.shape()[0]; ++i) list.push_back(as_json(value.row(i)));
  return list;
}

/// {"file": ..., "label": ..., "score": ..., "top": [...], "labels": [...], "outputs": {...}}, or {"file":
/// ..., "error": ...}; label, score and top if an output is probabilities of classes, labels if one is a set
/// of labels.
class JsonLines final : public PredictionWriter {
 public:
  explicit JsonLines(const WriterOptions& options)
      : options_(options), answers_(options_), output_(options.output) {}

  void write(const Prediction& p) override {
    nlohmann::ordered_json line = {{"file", valid_utf8(p.file)}};
    if (!p.error.empty()) {
      line["error"] = valid_utf8(p.error);
    } else {
      if (answers_.classes()) add_classes(p, line);
      if (answers_.set()) line["labels"] = answers_.labels(p);
      for (size_t i = 0; i < p.outputs.size(); ++i) {
        const bool is_picture = options_.outputs[i].is_picture;
        line["outputs"][options_.outputs[i].name] =
            is_picture ? nlohmann::json(p.pictures[i]) : as_json(p.outputs[i]);
      }
    }
    output_.stream() << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  void flush() override { output_.stream().flush(); }
  void finish() override { output_.finish(); }

 private:
  void add_classes(const Prediction& p, nlohmann::ordered_json& line) const {
    const std::vector<Ranked> ranked = answers_.ranked(p);
    line["label"] = ranked[0].label;
    line["score"] = ranked[0].score;
    if (options_.top_k == 1) return;
    for (const Ranked& one : ranked) line["top"].push_back({{"label", one.label}, {"score", one.score}});
  }

  WriterOptions options_;
  Answers answers_;
  TextOutput output_;
};

/// The requested columns, or: file; label,score,label_2,score_2,... of the first output of classes; labels of
/// the first set, separated by ';'; a column for each other output, with its values separated by spaces, or
/// the path of its picture; error.
class CsvWriter final : public PredictionWriter {
 public:
  explicit CsvWriter(const WriterOptions& options)
      : options_(options), answers_(options_), output_(options.output) {
    if (!options_.columns.empty()) asked_.emplace(options_.columns, answers_);
    write_row(asked_ ? asked_->header() : usual_columns());
  }

  void write(const Prediction& p) override {
    if (asked_) return write_row(asked_->fields(p));
    const bool is_good = p.error.empty();
    std::vector<std::string> fields = {p.file};
    if (answers_.classes()) {
      const std::vector<Ranked> ranked = is_good ? answers_.ranked(p) : std::vector<Ranked>();
      for (size_t k = 0; k < static_cast<size_t>(options_.top_k); ++k) {
        fields.push_back(k < ranked.size() ? ranked[k].label : "");
        fields.push_back(k < ranked.size() ? csv_field(ranked[k].score) : "");
      }
    }
    if (answers_.set()) fields.push_back(is_good ? join(answers_.labels(p), ";") : "");
    for (size_t i = 0; i < options_.outputs.size(); ++i)
      if (answers_.has_more(i)) fields.push_back(is_good ? answers_.values(p, i) : "");
    fields.push_back(p.error);
    write_row(fields);
  }
  WantedColumns wanted() const override { return asked_ ? asked_->wanted() : WantedColumns(); }
  void flush() override { output_.stream().flush(); }
  void finish() override { output_.finish(); }

 private:
  /// Errors: ConfigError for duplicate names.
  std::vector<std::string> usual_columns() const {
    std::vector<std::string> columns = {"file"};
    for (int k = 1; answers_.classes() && k <= options_.top_k; ++k) {
      const std::string number = k == 1 ? "" : "_" + std::to_string(k);
      columns.push_back("label" + number);
      columns.push_back("score" + number);
    }
    if (answers_.set()) columns.emplace_back("labels");
    for (size_t i = 0; i < options_.outputs.size(); ++i)
      if (answers_.has_more(i)) columns.push_back(options_.outputs[i].name);
    columns.emplace_back("error");
    for (size_t i = 0; i < columns.size(); ++i) {
      if (std::count(columns.begin(), columns.end(), columns[i]) > 1)
        throw ConfigError("--format csv would have two columns '" + columns[i] +
                          "'; rename the output in predict.outputs, or use jsonl");
    }
    return columns;
  }
  void write_row(const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i)
      output_.stream() << (i == 0 ? "" : ",") << csv_field(fields[i]);
    output_.stream() << "\n";
  }

  WriterOptions options_;
  Answers answers_;
  std::optional<AnswerColumns> asked_;
  TextOutput output_;
};

/// One dataset [samples, ...] per output, NaN for samples that could not be read, and the lists of strings
/// `files`, `errors` (empty without an error) and `labels`, the class names if there are any.
class Hdf5 final : public PredictionWriter {
 public:
  explicit Hdf5(WriterOptions options) : options_(std::move(options)) {
    if (options_.output.empty()) throw ConfigError("--format hdf5 needs --output FILE");
    check_names();
  }
  void write(const Prediction& p) override { all_.push_back(p); }

  void finish() override {
    CheckpointContent content;
    for (const Prediction& p : all_) {
      content.lists["files"].push_back(valid_utf8(p.file));
      content.lists["errors"].push_back(valid_utf8(p.error));
    }
    if (!options_.labels.empty()) content.lists["labels"] = options_.labels;
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      if (const auto rows = stacked(i)) content.tensors[options_.outputs[i].name] = *rows;
    }
    save_checkpoint(options_.output, content);
  }

 private:
  /// The dataset of an output has its name; words before the last slash become groups.
  void check_names() const {
    std::vector<std::string> taken = {"files", "errors", "labels"};
    for (const WrittenOutput& output : options_.outputs) {
      const std::string& name = output.name;
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
