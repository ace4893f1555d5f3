#include "infer/infer_files.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "core/text_encoding.h"
#include "data_tools/sample_images.h"
#include "draw/png.h"
#include "infer/answers.h"
#include "infer/file_list.h"
#include "infer/file_samples.h"
#include "infer/mask_writer.h"
#include "infer/output_roles.h"
#include "infer/prediction_writer.h"
#include "infer/sample_predictor.h"
#include "predict/output_images.h"
#include "predict/predict_outputs.h"
#include "predict/predictor.h"
#include "predict/target_input.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

std::vector<std::string> labels_of(const InferOptions& o, const InferenceModel& model) {
  if (o.labels.empty()) return model.labels();
  const auto text = read_whole_file(o.labels, Reads::kStreams);
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

/// The columns with the true values in the training data, unless they are inputs.
std::vector<std::string> true_columns(const InferenceModel& model, const std::optional<TargetInput>& target,
                                      const std::vector<std::string>& inputs) {
  if (!target || std::find(inputs.begin(), inputs.end(), target->input) != inputs.end()) return {};
  const auto known = model.fit()->declared().find("", target->component);
  return known ? known->columns : std::vector<std::string>();
}

/// Reads samples in batches and predicts; an error affects only its sample.
class Inference {
 public:
  Inference(const std::vector<const InferenceModel*>& models, const InferOptions& options,
            const std::vector<std::string>& words)
      : options_(options),
        files_(words),
        members_(members_of(models)),
        labels_(labels_of(options, *models[0])),
        pictures_(models[0]->tower().inputs()),
        masks_(options_, labels_),
        target_(target_input(models[0]->tower())),
        roles_(output_roles(options, labels_, first().predictor(), pictures_, masks_, target_)),
        writer_(make_prediction_writer(writer_options(*models[0]))) {
    for (const auto& member : members_) member->samples().want(writer_->wanted());
    if (!options.images.empty()) make_folder(options.images);
    if (members_.size() > 1) check_equal_outputs(models);
    batch_.resize(members_.size());
  }

  InferCounts run() {
    const auto answer = [this] {
      read_lines();
      flush(Batch::kPadded);
      writer_->flush();
    };
    while (const auto item = files_.next(answer)) {
      if (is_row(*item)) {
        add_line(item->line);
        continue;
      }
      if (line_ > 0)
        throw DataError("standard input has both rows of a table and the path " + item->path +
                        "; it must have only one of the two (check the paths before it)");
      read(item->path);
    }
    read_lines();
    if (line_ == 1 && counts_.all == 0)
      log::warning("standard input has '" + header_.substr(0, 60) +
                   "', which looks like a table header, but no rows");
    for (int64_t i = 0; i < options_.count.value_or(0); ++i) read("sample " + std::to_string(i));
    if (!options_.data.empty()) read(options_.data);
    flush(Batch::kAsItIs);
    writer_->finish();
    if (bad_ > kMaxListed)
      log::error("and " + std::to_string(bad_ - kMaxListed) + " more; the output lists the error of each");
    counts_.unit = first().samples().unit();
    return counts_;
  }

 private:
  SamplePredictor& first() { return *members_[0]; }
  std::vector<std::unique_ptr<SamplePredictor>> members_of(const std::vector<const InferenceModel*>& models) {
    std::vector<std::unique_ptr<SamplePredictor>> members;
    for (const InferenceModel* model : models)
      members.push_back(std::make_unique<SamplePredictor>(*model, options_, files_));
    return members;
  }
  void check_equal_outputs(const std::vector<const InferenceModel*>& models) {
    for (size_t i = 0; i < members_.size(); ++i) {
      members_[i]->check_means("--average");
      const std::string own = described_outputs(members_[i]->predictor());
      if (own != described_outputs(first().predictor()) || models[i]->labels() != models[0]->labels())
        throw ConfigError(
            "--average: the models predict different things: " + described_outputs(first().predictor()) +
            " of " + std::to_string(models[0]->labels().size()) + " classes, and " + own + " of " +
            std::to_string(models[i]->labels().size()));
    }
  }
  WriterOptions writer_options(const InferenceModel& model) {
    WriterOptions w{options_.format,
                    options_.output,
                    roles_,
                    labels_,
                    options_.top_k,
                    options_.threshold,
                    options_.columns,
                    true_columns(model, target_, first().samples().inputs()),
                    target_ && target_->classes && !target_->classes->by_logit};
    if (!options_.all_columns) return w;
    w.columns = {"index=index", "file=file"};
    const std::string id = first().samples().id_column();
    if (!id.empty()) w.columns.push_back(id);
    if (target_) w.columns.emplace_back("true=true");
    for (const std::string& name : Answers(w).names()) w.columns.push_back(name + "=" + name);
    return w;
  }
  static void make_folder(const std::string& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) throw ResourceError(path + ": cannot be created: " + failure.message());
  }

  /// For a model of tables, a line of standard input that is not a file is a row.
  bool is_row(const FileList::Item& item) {
    std::error_code failure;
    return item.is_of_input && first().samples().reads_lines() &&
           !std::filesystem::exists(item.path, failure);
  }
  void add_line(const std::string& line) {
    if (line_ == 0 && first().samples().has_header_line()) {
      header_ = line;
    } else {
      lines_.push_back(line);
    }
    ++line_;
    if (std::ssize(lines_) == options_.batch) read_lines();
  }
  void read_lines() {
    if (lines_.empty()) return;
    const int64_t number = line_ - std::ssize(lines_) + 1;
    take_from(
        [&](SamplePredictor& member, const std::function<void(FileSample)>& take) {
          member.samples().read_lines(header_, lines_, number, take);
        },
        "standard input");
    lines_.clear();
  }

  void read(const std::string& path) {
    reject_overwriting("--output", options_.output, std::vector{path});
    take_from([&](SamplePredictor& member,
                  const std::function<void(FileSample)>& take) { member.samples().read(path, take); },
              path);
  }

  /// Other models read a file before the first one does; its samples are used one by one.
  using Read = std::function<void(SamplePredictor&, const std::function<void(FileSample)>&)>;
  void take_from(const Read& read, const std::string& what) {
    std::vector<std::vector<FileSample>> others(members_.size() - 1);
    for (size_t m = 1; m < members_.size(); ++m)
      read(*members_[m], [&](FileSample sample) { others[m - 1].push_back(std::move(sample)); });
    size_t number = 0;
    read(first(), [&](FileSample sample) {
      std::vector<FileSample> of_all = {std::move(sample)};
      for (std::vector<FileSample>& all : others) {
        if (number >= all.size())
          throw DataError(what + ": the models read different numbers of samples from it");
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
    p.place = of_all[0].place;
    p.picture = of_all[0].picture;
    p.truth = of_all[0].truth;
    p.index = of_all[0].index;
    for (FileSample& sample : of_all)
      if (p.error.empty()) p.error = std::move(sample.error);
    ++counts_.all;
    if (p.error.empty()) {
      std::vector<std::vector<Tensor>> inputs;
      for (size_t m = 0; m < members_.size(); ++m)
        inputs.push_back(members_[m]->with_given(std::move(of_all[m].inputs)));
      const bool has_other_size =
          !batch_[0].empty() && signature_of(inputs[0]) != signature_of(batch_[0].back());
      if (has_other_size) {
        Prediction last = std::move(p);
        pending_.pop_back();
        flush(Batch::kAsItIs);
        pending_.push_back(std::move(last));
      }
      for (size_t m = 0; m < members_.size(); ++m) batch_[m].push_back(std::move(inputs[m]));
    } else {
      ++counts_.bad;
    }
    if (std::ssize(pending_) == options_.batch) flush(Batch::kAsItIs);
  }

  /// A smaller batch may be filled up with copies, so that few sizes are compiled.
  enum class Batch : uint8_t { kAsItIs, kPadded };

  /// The outputs of the good samples.
  std::vector<Tensor> predicted(Batch how) {
    std::vector<Tensor> values;
    for (size_t m = 0; m < members_.size() && !batch_[0].empty(); ++m) {
      if (how == Batch::kPadded) {
        while (!std::has_single_bit(batch_[m].size())) batch_[m].push_back(batch_[m].back());
      }
      std::vector<Tensor> own = members_[m]->run(batch_[m]);
      if (m == 0)
        values = std::move(own);
      else
        SamplePredictor::add_to_mean(values, own, m);
    }
    return values;
  }

  void flush(Batch how) {
    std::vector<Tensor> values;
    try {
      values = predicted(how);
    } catch (const ConfigError& error) {  // the network does not accept images of this size
      if (!options_.full_size) throw;
      for (Prediction& p : pending_) {
        if (!p.error.empty()) continue;
        p.error = p.file + ": " + error.what();
        ++counts_.bad;
      }
    }
    int64_t row = 0;
    for (Prediction& p : pending_) {
      if (p.error.empty()) {
        for (const Tensor& value : values) p.outputs.push_back(value.row(row));
        inputs_of_[&p] = static_cast<size_t>(row++);
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
    inputs_of_.clear();
    for (auto& samples : batch_) samples.clear();
  }

  /// Reports an error for a sample if its values contain NaN.
  void reject_nan(Prediction& p) {
    for (const Tensor& values : p.outputs) {
      for (int64_t i = 0; i < values.elements(); ++i) {
        if (!std::isnan(values.at(i))) continue;
        p.error = p.file + ": the output of the model is NaN";
        p.outputs.clear();
        ++counts_.bad;
        return;
      }
    }
  }

  /// Computed once, from the first samples: all pictures of an output have one range.
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
      const bool is_image = roles_[i].is_picture && !masks_.is_mask(first().predictor().forms()[i]);
      if (is_image && !output.range && !meaning.has_range())
        log::info("output '" + output.name + "': black and white are drawn for " + str(ranges_.back()) +
                  ", chosen from the values; to set the range, write {output: " + output.from.name +
                  ", range: [BLACK, WHITE]} in predict.outputs");
    }
  }

  void warn_if_cut(const Prediction& p) {
    if (!p.place || p.place->shows_all() || std::exchange(said_cut_, true)) return;
    log::warning(p.file +
                 ": the flow of predict.data crops pictures, so the model sees only a part of them: cropped "
                 "pixels get class 0 in masks and are missing in other outputs; use a Resize to keep them");
  }
  void draw(Prediction& p) {
    p.pictures.resize(p.outputs.size());
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (!roles_[i].is_picture) continue;
      warn_if_cut(p);
      OutputForm form = first().predictor().forms()[i];
      form.spec = p.outputs[i].spec();  // with full_size, that of this sample
      if (masks_.is_mask(form)) {
        p.pictures[i] = masks_.write(p, i, roles_[i].name, written_, batch_[0][inputs_of_.at(&p)]);
      } else {
        const Tensor pixels = pictures_.pixels(form, p.outputs[i], ranges_[i]);
        p.pictures[i] =
            write_picture(options_.images, written_, p.file, roles_[i].name, encode_png(pixels).at(0).png);
      }
    }
  }

  const InferOptions& options_;
  FileList files_;
  std::vector<std::unique_ptr<SamplePredictor>> members_;  // at least one
  std::vector<std::string> labels_;
  OutputImages pictures_;
  MaskWriter masks_;
  std::optional<TargetInput> target_;
  std::vector<WrittenOutput> roles_;
  std::vector<PixelRange> ranges_;  // of the outputs that are pictures; empty until there are samples
  std::unique_ptr<PredictionWriter> writer_;
  std::map<const Prediction*, size_t> inputs_of_;  // rows of batch_, of the good samples
  bool said_cut_ = false;
  std::vector<Prediction> pending_;                      // samples since the last batch, good and bad
  std::vector<std::vector<std::vector<Tensor>>> batch_;  // of each model, the inputs of the good ones
  std::string header_;                                   // of rows on standard input
  std::vector<std::string> lines_;                       // of them, not read yet
  int64_t line_ = 0;                                     // lines so far
  int64_t written_ = 0;
  static constexpr int64_t kMaxListed = 20;
  int64_t bad_ = 0;  // samples with an error; only the first ones are logged
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
