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

/// A model with what reads samples for it.
class Member {
 public:
  Member(const InferenceModel& model, const InferOptions& options, FileList& files)
      : inputs_(model.tower().inputs()),
        flips_(options.flips),
        given_(given_inputs(model, options.inputs)),
        samples_(samples_of(model, options, files)),
        predictor_(model.handle(), model.outputs(), input_names()) {
    if (flips_) check_flips();
  }
  Predictor& predictor() { return predictor_; }
  FileSamples& samples() { return *samples_; }

  /// The inputs of a sample that was read, in the order of the predictor.
  std::vector<Tensor> with_given(std::vector<Tensor> inputs) const {
    const std::vector<std::string> names = samples_->inputs();
    std::vector<Tensor> all;
    for (size_t i = 0; i < names.size(); ++i)
      if (!given_.contains(names[i])) all.push_back(std::move(inputs[i]));
    for (const auto& [name, value] : given_) all.push_back(value);
    return all;
  }
  /// The outputs of samples, [N, ...].
  std::vector<Tensor> run(const std::vector<std::vector<Tensor>>& samples) {
    const std::vector<Tensor> batch = stacked(samples);
    std::vector<Tensor> values = predictor_.run(batch);
    if (flips_) add_to_mean(values, predictor_.run(flipped(batch)), 1);
    return values;
  }
  /// mean <- mean + (more - mean) / (count + 1).
  static void add_to_mean(std::vector<Tensor>& mean, const std::vector<Tensor>& more, size_t count) {
    for (size_t i = 0; i < mean.size(); ++i) {
      const auto values = mean[i].span<float>();
      const auto others = more[i].span<float>();
      for (size_t k = 0; k < values.size(); ++k)
        values[k] += (others[k] - values[k]) / static_cast<float>(count + 1);
    }
  }
  /// Errors: ConfigError for an output that has no mean.
  void check_means(const std::string& option) const {
    for (size_t i = 0; i < predictor_.forms().size(); ++i) {
      const TensorSpec& spec = predictor_.forms()[i].spec;
      if (spec.dtype != DType::kFloat32)
        throw ConfigError(option + ": output '" + predictor_.outputs()[i].name + "' is " + spec.str() +
                          ", which has no mean; predict probabilities, such as {probability: {Softmax: "
                          "logits}}");
    }
  }

 private:
  /// Of those that are not given, so samples must have them.
  std::vector<std::string> needed_inputs(const InferenceModel& model) const {
    std::vector<std::string> all;
    for (const TowerInput& input : inputs_) all.push_back(input.name);
    std::vector<std::string> needed = Predictor(model.handle(), model.outputs(), all).needed_inputs();
    std::erase_if(needed, [this](const std::string& name) { return given_.contains(name); });
    return needed;
  }
  std::unique_ptr<FileSamples> samples_of(const InferenceModel& model, const InferOptions& options,
                                          FileList& list) {
    const std::vector<std::string> needed = needed_inputs(model);
    if (!options.data.empty()) return make_flow_samples(model, needed, options.data, options.columns);
    if (!options.count) {
      const std::vector<std::string> files = list.known();
      if (files.empty())
        throw DataError("no file is named; give images, folders, @LIST or - for a list on standard input");
      return make_file_samples(model, needed, files, options.columns);
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

  /// One tensor for each input.
  static std::vector<Tensor> stacked(const std::vector<std::vector<Tensor>>& samples) {
    std::vector<Tensor> all;
    for (size_t input = 0; input < samples[0].size(); ++input) {
      const TensorSpec& spec = samples[0][input].spec();
      Tensor& rows = all.emplace_back(spec.dtype, spec.shape.prepend(std::ssize(samples)));
      for (size_t i = 0; i < samples.size(); ++i) {
        const Tensor& sample = samples[i][input];
        std::memcpy(rows.row(static_cast<int64_t>(i)).raw(), sample.raw(), sample.bytes());
      }
    }
    return all;
  }
  const TowerInput* image_input(size_t number) const {
    const std::string name = input_names()[number];
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&](const TowerInput& input) { return input.name == name; });
    return found->layout.empty() ? nullptr : &*found;
  }
  void check_flips() const {
    bool has_image = false;
    for (size_t i = 0; i < input_names().size(); ++i) has_image |= image_input(i) != nullptr;
    if (!has_image) throw ConfigError("--augment flip: no input of this model is an image");
    check_means("--augment flip");
    for (size_t i = 0; i < predictor_.forms().size(); ++i) {
      if (predictor_.forms()[i].spec.shape.rank() > 1)
        throw ConfigError("--augment flip: output '" + predictor_.outputs()[i].name + "' is " +
                          predictor_.forms()[i].spec.str() + "; it must be one number or a list of numbers");
    }
  }
  /// Images from right to left.
  std::vector<Tensor> flipped(const std::vector<Tensor>& batch) const {
    std::vector<Tensor> all = batch;
    for (size_t i = 0; i < all.size(); ++i) {
      const TowerInput* input = image_input(i);
      if (input == nullptr) continue;
      const Shape& shape = batch[i].shape();
      const bool hwc = input->layout == "HWC";
      const int64_t width = hwc ? shape[2] : shape[3];
      const size_t pixel =
          batch[i].bytes() / static_cast<size_t>(shape.elements()) * static_cast<size_t>(hwc ? shape[3] : 1);
      const Tensor out(batch[i].dtype(), shape);
      const auto* from = static_cast<const std::byte*>(batch[i].raw());
      auto* to = static_cast<std::byte*>(out.raw());
      const int64_t lines = static_cast<int64_t>(batch[i].bytes() / pixel) / width;
      for (int64_t line = 0; line < lines; ++line) {
        for (int64_t x = 0; x < width; ++x) {
          const auto at = static_cast<size_t>(line * width + x) * pixel;
          const auto mirrored = static_cast<size_t>(line * width + width - 1 - x) * pixel;
          std::memcpy(to + at, from + mirrored, pixel);
        }
      }
      all[i] = out;
    }
    return all;
  }

  const std::vector<TowerInput>& inputs_;
  bool flips_;
  std::map<std::string, Tensor> given_;
  std::unique_ptr<FileSamples> samples_;
  Predictor predictor_;
};

/// Reads samples in batches and predicts; errors stay with their sample.
class Inference {
 public:
  Inference(const std::vector<const InferenceModel*>& models, const InferOptions& options,
            const std::vector<std::string>& words)
      : options_(options),
        files_(words),
        members_(members_of(models)),
        labels_(labels_of(options, *models[0])),
        pictures_(models[0]->tower().inputs()),
        roles_(Roles(options, labels_, first().predictor(), pictures_).outputs()),
        writer_(make_prediction_writer({options.format, options.output, roles_, labels_, options.top_k,
                                        options.threshold, options.columns})) {
    if (!options.images.empty()) make_folder(options.images);
    if (members_.size() > 1) check_equal_outputs(models);
    batch_.resize(members_.size());
  }

  InferCounts run() {
    const auto answer = [this] {
      flush();
      writer_->flush();
    };
    while (const auto file = files_.next(answer)) read(*file);
    for (int64_t i = 0; i < options_.count.value_or(0); ++i) read("sample " + std::to_string(i));
    if (!options_.data.empty()) read(options_.data);
    flush();
    writer_->finish();
    if (bad_ > kMaxListed)
      log::error("and " + std::to_string(bad_ - kMaxListed) + " more; the output has the error of each");
    counts_.unit = first().samples().unit();
    return counts_;
  }

 private:
  Member& first() { return *members_[0]; }
  std::vector<std::unique_ptr<Member>> members_of(const std::vector<const InferenceModel*>& models) {
    std::vector<std::unique_ptr<Member>> members;
    for (const InferenceModel* model : models)
      members.push_back(std::make_unique<Member>(*model, options_, files_));
    return members;
  }
  void check_equal_outputs(const std::vector<const InferenceModel*>& models) {
    for (size_t i = 0; i < members_.size(); ++i) {
      members_[i]->check_means("--average");
      const std::string own = described(members_[i]->predictor());
      if (own != described(first().predictor()) || models[i]->labels() != models[0]->labels())
        throw ConfigError(
            "--average: the models predict different things: " + described(first().predictor()) + " of " +
            std::to_string(models[0]->labels().size()) + " classes, and " + own + " of " +
            std::to_string(models[i]->labels().size()));
    }
  }
  static void make_folder(const std::string& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) throw ResourceError(path + ": cannot be created: " + failure.message());
  }

  /// Other models read a file before the first one does, whose samples are taken one by one.
  void read(const std::string& path) {
    std::vector<std::vector<FileSample>> others(members_.size() - 1);
    for (size_t m = 1; m < members_.size(); ++m)
      members_[m]->samples().read(path,
                                  [&](FileSample sample) { others[m - 1].push_back(std::move(sample)); });
    size_t number = 0;
    first().samples().read(path, [&](FileSample sample) {
      std::vector<FileSample> of_all = {std::move(sample)};
      for (std::vector<FileSample>& all : others) {
        if (number >= all.size())
          throw DataError(path + ": the models read different numbers of samples of it");
        of_all.push_back(std::move(all[number]));
      }
      ++number;
      add(std::move(of_all));
    });
  }

  /// A sample as each model reads it.
  void add(std::vector<FileSample> of_all) {
    Prediction& p = pending_.emplace_back();
    p.file = std::move(of_all[0].name);
    p.columns = std::move(of_all[0].columns);
    for (FileSample& sample : of_all)
      if (p.error.empty()) p.error = std::move(sample.error);
    ++counts_.all;
    if (p.error.empty()) {
      for (size_t m = 0; m < members_.size(); ++m)
        batch_[m].push_back(members_[m]->with_given(std::move(of_all[m].inputs)));
    } else {
      ++counts_.bad;
    }
    if (std::ssize(pending_) == options_.batch) flush();
  }

  void flush() {
    std::vector<Tensor> values;
    for (size_t m = 0; m < members_.size() && !batch_[0].empty(); ++m) {
      std::vector<Tensor> own = members_[m]->run(batch_[m]);
      if (m == 0)
        values = std::move(own);
      else
        Member::add_to_mean(values, own, m);
    }
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
    for (auto& samples : batch_) samples.clear();
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
      const PredictOutput& output = first().predictor().outputs()[i];
      std::vector<Tensor> values;
      for (const Prediction& p : pending_)
        if (p.error.empty()) values.push_back(p.outputs[i]);
      if (values.empty()) return;
      const OutputMeaning meaning = first().predictor().forms()[i].meaning;
      ranges_.push_back(output.range.value_or(likely_range(meaning, values)));
      if (roles_[i].role == OutputRole::kPicture && !output.range && !has_own_range(meaning))
        log::info("output '" + output.name + "': black and white are " + str(ranges_.back()) +
                  ", which its values fit; to say it, write {output: " + output.from.name +
                  ", range: [BLACK, WHITE]} in predict.outputs");
    }
  }

  void draw(Prediction& p) {
    p.pictures.resize(p.outputs.size());
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (roles_[i].role != OutputRole::kPicture) continue;
      p.pictures[i] =
          write_picture(options_.images, written_, p.file, roles_[i].name,
                        pictures_.pixels(first().predictor().forms()[i], p.outputs[i], ranges_[i]));
    }
  }

  const InferOptions& options_;
  FileList files_;
  std::vector<std::unique_ptr<Member>> members_;  // at least one
  std::vector<std::string> labels_;
  OutputImages pictures_;
  std::vector<WrittenOutput> roles_;
  std::vector<PixelRange> ranges_;  // of the outputs that are pictures; empty until there are samples
  std::unique_ptr<PredictionWriter> writer_;
  std::vector<Prediction> pending_;                      // samples since the last batch, good and bad
  std::vector<std::vector<std::vector<Tensor>>> batch_;  // of each model, the inputs of the good ones
  int64_t written_ = 0;
  static constexpr int64_t kMaxListed = 20;
  int64_t bad_ = 0;  // samples with an error; the log has that of the first ones
  InferCounts counts_;
};

}  // namespace

InferCounts infer_files(const InferenceModel& model, const std::vector<std::string>& words,
                        const InferOptions& options) {
  return infer_files(std::vector{&model}, words, options);
}

InferCounts infer_files(const std::vector<const InferenceModel*>& models,
                        const std::vector<std::string>& words, const InferOptions& options) {
  return Inference(models, options, words).run();
}

}  // namespace tpack
