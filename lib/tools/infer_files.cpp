#include "tools/infer_files.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "core/text.h"
#include "core/text_encoding.h"
#include "draw/png.h"
#include "predict/output_images.h"
#include "predict/predict_outputs.h"
#include "predict/predictor.h"
#include "system/file_io.h"
#include "system/log.h"
#include "tools/file_list.h"
#include "tools/file_samples.h"
#include "tools/given_inputs.h"
#include "tools/prediction_writer.h"
#include "tools/sample_images.h"

namespace tpack {
namespace {

std::vector<std::string> labels_of(const InferOptions& o, const InferenceModel& model) {
  if (o.labels.empty()) return model.labels();
  const auto text = read_whole_file(o.labels);
  if (!text) throw ConfigError(o.labels + ": cannot be read");
  if (const auto bad = first_invalid_utf8(*text)) {
    const auto line = 1 + std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
    throw ConfigError(o.labels + ":" + std::to_string(line) + ": is not UTF-8; save the file as UTF-8");
  }
  std::vector<std::string> labels;
  for (const std::string& line : split(without_byte_order_mark(*text), '\n')) labels.emplace_back(trim(line));
  if (!labels.empty() && labels.back().empty()) labels.pop_back();  // after the last line end
  return labels;
}

/// "probability float32 [10], code float32 [16]".
std::string described(const Predictor& predictor) {
  std::vector<std::string> all;
  for (size_t i = 0; i < predictor.forms().size(); ++i)
    all.push_back(predictor.outputs()[i].name + " " + predictor.forms()[i].spec.str());
  return join(all, ", ");
}

/// How each output is written.
class Roles {
 public:
  Roles(const InferOptions& options, const std::vector<std::string>& labels, const Predictor& predictor,
        const OutputImages& pictures)
      : options_(options), labels_(labels), predictor_(predictor) {
    for (size_t i = 0; i < predictor.forms().size(); ++i)
      outputs_.push_back({predictor.outputs()[i].name, role_of(predictor.forms()[i], pictures)});
    check_classes();
    check_labels();
    if (!options.images.empty() && !has(OutputRole::kPicture)) {
      throw ConfigError(
          "--images: no output of predict is an image, [channels, height, width] with 1 or 3 "
          "channels, or as many numbers as the image has that the model takes; there are " +
          described(predictor));
    }
  }
  const std::vector<WrittenOutput>& outputs() const { return outputs_; }

 private:
  /// What the numbers mean. Labels that the user gives are for any vector,
  /// where no output is probabilities of classes.
  OutputRole role_of(const OutputForm& form, const OutputImages& pictures) const {
    if (!options_.images.empty() && pictures.is_image(form)) return OutputRole::kPicture;
    if (form.spec.shape.rank() != 1) return OutputRole::kValues;
    if (is_of_classes(form)) return OutputRole::kClasses;
    const bool has_names = std::ssize(labels_) == form.spec.shape[0];
    if (has_names && form.meaning == OutputMeaning::kProbabilities) return OutputRole::kLabelSet;
    const auto& forms = predictor_.forms();
    const bool is_named =
        has_names && !options_.labels.empty() && std::none_of(forms.begin(), forms.end(), is_of_classes);
    return is_named ? OutputRole::kClasses : OutputRole::kValues;
  }
  static bool is_of_classes(const OutputForm& form) {
    return form.spec.shape.rank() == 1 && form.meaning == OutputMeaning::kClassProbabilities;
  }
  bool has(OutputRole role) const {
    return std::any_of(outputs_.begin(), outputs_.end(), [&](const auto& o) { return o.role == role; });
  }

  /// No more classes may be asked for than there are.
  void check_classes() const {
    if (options_.top_k == 1) return;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].role != OutputRole::kClasses) continue;
      const int64_t classes = predictor_.forms()[i].spec.shape[0];
      if (options_.top_k > classes)
        throw ConfigError("--top-k " + std::to_string(options_.top_k) + ": the model has " +
                          std::to_string(classes) + " classes");
      return;
    }
    throw ConfigError(
        "--top-k: no output of predict is probabilities of classes, which a Softmax gives; "
        "there are " +
        described(predictor_));
  }
  /// Names that were given must be those of all classes.
  void check_labels() const {
    if (options_.labels.empty() || has(OutputRole::kLabelSet)) return;
    const std::string names = options_.labels + ": has " + std::to_string(labels_.size()) + " names, ";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].role != OutputRole::kClasses) continue;
      const int64_t classes = predictor_.forms()[i].spec.shape[0];
      if (std::ssize(labels_) == classes) return;
      throw ConfigError(names + "the model has " + std::to_string(classes) +
                        " classes; write one name per line");
    }
    throw ConfigError(names + "but no output of predict has as many numbers; there are " +
                      described(predictor_));
  }

  const InferOptions& options_;
  const std::vector<std::string>& labels_;
  const Predictor& predictor_;
  std::vector<WrittenOutput> outputs_;
};

/// Writes FOLDER/NUMBER-STEM-OUTPUT.png (with the stem of the file that was read) and returns its path.
std::string write_picture(const std::string& folder, int64_t number, const std::string& file,
                          const std::string& output, const Tensor& pixels) {
  const std::string stem = std::filesystem::path(file).stem().string();
  std::string path = folder + "/" + sample_file_name(number, stem + "-" + output);
  write_whole_file(path, encode_png(pixels).at(0).png);
  return path;
}

/// Reads files in batches and predicts; errors stay with their sample.
class Inference {
 public:
  Inference(const InferenceModel& model, const InferOptions& options, const std::vector<std::string>& words)
      : options_(options),
        files_(words),
        given_(given_inputs(model, options.inputs)),
        samples_(samples_of(model)),
        labels_(labels_of(options, model)),
        pictures_(model.tower().inputs()),
        predictor_(model.handle(), model.outputs(), input_names()),
        roles_(Roles(options, labels_, predictor_, pictures_).outputs()),
        writer_(make_prediction_writer({options.format, options.output, roles_, labels_, options.top_k,
                                        options.threshold, options.columns})) {
    if (!options.images.empty()) make_folder(options.images);
  }

  InferCounts run() {
    const auto take = [this](FileSample sample) { add(std::move(sample)); };
    const auto answer = [this] {
      flush();
      writer_->flush();
    };
    while (const auto file = files_.next(answer)) samples_->read(*file, take);
    for (int64_t i = 0; i < options_.count.value_or(0); ++i)
      samples_->read("sample " + std::to_string(i), take);
    flush();
    writer_->finish();
    if (bad_ > kMaxListed)
      log::error("and " + std::to_string(bad_ - kMaxListed) + " more; the output has the error of each");
    counts_.unit = samples_->unit();
    return counts_;
  }

 private:
  /// Of those that are not given, so files must have them.
  std::vector<std::string> needed_inputs(const InferenceModel& model) const {
    std::vector<std::string> all;
    for (const TowerInput& input : model.tower().inputs()) all.push_back(input.name);
    std::vector<std::string> needed = Predictor(model.handle(), model.outputs(), all).needed_inputs();
    std::erase_if(needed, [this](const std::string& name) { return given_.contains(name); });
    return needed;
  }
  std::unique_ptr<FileSamples> samples_of(const InferenceModel& model) {
    const std::vector<std::string> needed = needed_inputs(model);
    if (!options_.count) {
      const std::vector<std::string> files = files_.known();
      if (files.empty())
        throw DataError("no file is named; give images, folders, @LIST or - for a list on standard input");
      return make_file_samples(model, needed, files, options_.columns);
    }
    if (!needed.empty())
      throw ConfigError("--count: the outputs depend on " + join(needed, ", ") + "; give it with --input " +
                        needed[0] + "=VALUE, or name files that have it");
    return make_counted_samples(model);
  }
  /// Those of the samples, then those that are given; a given one takes the place of that of a sample.
  std::vector<std::string> input_names() const {
    std::vector<std::string> names = samples_->inputs();
    std::erase_if(names, [this](const std::string& name) { return given_.contains(name); });
    for (const auto& [name, value] : given_) names.push_back(name);
    return names;
  }
  std::vector<Tensor> with_given(std::vector<Tensor> inputs) const {
    const std::vector<std::string> names = samples_->inputs();
    std::vector<Tensor> all;
    for (size_t i = 0; i < names.size(); ++i)
      if (!given_.contains(names[i])) all.push_back(std::move(inputs[i]));
    for (const auto& [name, value] : given_) all.push_back(value);
    return all;
  }
  static void make_folder(const std::string& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) throw ResourceError(path + ": cannot be created: " + failure.message());
  }

  void add(FileSample sample) {
    Prediction& p = pending_.emplace_back();
    p.file = std::move(sample.name);
    p.error = std::move(sample.error);
    p.columns = std::move(sample.columns);
    ++counts_.all;
    if (p.error.empty()) {
      batch_.push_back(with_given(std::move(sample.inputs)));
    } else {
      ++counts_.bad;
    }
    if (std::ssize(pending_) == options_.batch) flush();
  }

  void flush() {
    std::vector<Tensor> values;
    if (!batch_.empty()) values = predictor_.run(stacked());
    int64_t row = 0;
    for (Prediction& p : pending_) {
      if (p.error.empty()) {
        for (const Tensor& value : values) p.outputs.push_back(value.row(row));
        ++row;
        reject_nan(p);
      }
    }
    find_ranges();
    for (Prediction& p : pending_) {
      if (p.error.empty()) draw(p);
      if (!p.error.empty() && ++bad_ <= kMaxListed) log::error(p.error);
      writer_->write(p);
      ++written_;
    }
    pending_.clear();
    batch_.clear();
  }

  /// Reports an error for a sample if its values contain NaN.
  void reject_nan(Prediction& p) {
    for (const Tensor& values : p.outputs) {
      for (int64_t i = 0; i < values.elements(); ++i) {
        if (!std::isnan(values.at(i))) continue;
        p.error = p.file + ": the model gives NaN";
        p.outputs.clear();
        ++counts_.bad;
        return;
      }
    }
  }

  /// Once, from the first samples: all pictures of an output have one range.
  void find_ranges() {
    if (!ranges_.empty()) return;
    for (size_t i = 0; i < roles_.size(); ++i) {
      const PredictOutput& output = predictor_.outputs()[i];
      std::vector<Tensor> values;
      for (const Prediction& p : pending_)
        if (p.error.empty()) values.push_back(p.outputs[i]);
      if (values.empty()) return;
      const OutputMeaning meaning = predictor_.forms()[i].meaning;
      ranges_.push_back(output.range.value_or(likely_range(meaning, values)));
      if (roles_[i].role == OutputRole::kPicture && !output.range && !has_own_range(meaning))
        log::info("output '" + output.name + "': black and white are " + str(ranges_.back()) +
                  ", which its values fit; to say it, write {output: " + output.from.name +
                  ", range: [BLACK, WHITE]} in predict.outputs");
    }
  }

  void draw(Prediction& p) const {
    p.pictures.resize(p.outputs.size());
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (roles_[i].role != OutputRole::kPicture) continue;
      p.pictures[i] = write_picture(options_.images, written_, p.file, roles_[i].name,
                                    pictures_.pixels(predictor_.forms()[i], p.outputs[i], ranges_[i]));
    }
  }

  /// The batch, one tensor for each input.
  std::vector<Tensor> stacked() const {
    std::vector<Tensor> all;
    for (size_t input = 0; input < batch_[0].size(); ++input) {
      const TensorSpec& spec = batch_[0][input].spec();
      Tensor& rows = all.emplace_back(spec.dtype, spec.shape.prepend(std::ssize(batch_)));
      for (size_t i = 0; i < batch_.size(); ++i) {
        const Tensor& sample = batch_[i][input];
        std::memcpy(rows.row(static_cast<int64_t>(i)).raw(), sample.raw(), sample.bytes());
      }
    }
    return all;
  }

  const InferOptions& options_;
  FileList files_;
  std::map<std::string, Tensor> given_;
  std::unique_ptr<FileSamples> samples_;
  std::vector<std::string> labels_;
  OutputImages pictures_;
  Predictor predictor_;
  std::vector<WrittenOutput> roles_;
  std::vector<PixelRange> ranges_;  // of the outputs that are pictures; empty until there are samples
  std::unique_ptr<PredictionWriter> writer_;
  std::vector<Prediction> pending_;         // samples since the last batch, good and bad
  std::vector<std::vector<Tensor>> batch_;  // the inputs of the good ones
  int64_t written_ = 0;
  static constexpr int64_t kMaxListed = 20;
  int64_t bad_ = 0;  // samples with an error; the log has that of the first ones
  InferCounts counts_;
};

}  // namespace

InferCounts infer_files(const InferenceModel& model, const std::vector<std::string>& words,
                        const InferOptions& options) {
  return Inference(model, options, words).run();
}

}  // namespace tpack
