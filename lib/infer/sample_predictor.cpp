#include "infer/sample_predictor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/text.h"
#include "infer/answer_columns.h"
#include "infer/given_inputs.h"
#include "predict/target_input.h"

namespace tpack {
namespace {

/// One tensor for each input.
std::vector<Tensor> stacked(const std::vector<std::vector<Tensor>>& samples) {
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

bool needs_truth(const InferenceModel& model, const InferOptions& options) {
  return AnswerColumns::ask_for_truth(options.columns) ||
         (options.all_columns && target_input(model.tower()).has_value());
}

}  // namespace

SamplePredictor::SamplePredictor(const InferenceModel& model, const InferOptions& options, FileList& files)
    : inputs_(model.tower().inputs()),
      model_(model),
      flips_(options.flips),
      full_size_(options.full_size),
      given_(given_inputs(model, options.inputs)),
      samples_(samples_of(model, options, files)),
      predictor_(std::make_unique<Predictor>(model.handle(), model.outputs(), input_names())) {
  if (flips_) check_flips();
}

std::vector<Tensor> SamplePredictor::with_given(std::vector<Tensor> inputs) const {
  const std::vector<std::string> names = samples_->inputs();
  std::vector<Tensor> all;
  for (size_t i = 0; i < names.size(); ++i)
    if (!given_.contains(names[i])) all.push_back(std::move(inputs[i]));
  for (const auto& [name, value] : given_) all.push_back(value);
  return all;
}

std::vector<Tensor> SamplePredictor::run(const std::vector<std::vector<Tensor>>& samples) {
  const std::vector<Tensor> batch = stacked(samples);
  // Programs of other sizes are not kept, because they may take gigabytes.
  if (full_size_ && std::exchange(last_, signature_of(batch)) != signature_of(batch))
    predictor_ = std::make_unique<Predictor>(model_.handle(), model_.outputs(), input_names());
  std::vector<Tensor> values = predictor_->run(batch);
  if (flips_) add_to_mean(values, predictor_->run(flipped(batch)), 1);
  return values;
}

void SamplePredictor::add_to_mean(std::vector<Tensor>& mean, const std::vector<Tensor>& more, size_t count) {
  for (size_t i = 0; i < mean.size(); ++i) {
    const auto values = mean[i].span<float>();
    const auto others = more[i].span<float>();
    for (size_t k = 0; k < values.size(); ++k)
      values[k] += (others[k] - values[k]) / static_cast<float>(count + 1);
  }
}

void SamplePredictor::check_means(const std::string& option) const {
  for (size_t i = 0; i < predictor_->forms().size(); ++i) {
    const TensorSpec& spec = predictor_->forms()[i].spec;
    if (spec.dtype != DType::kFloat32)
      throw ConfigError(option + ": output '" + predictor_->outputs()[i].name + "' is " + spec.str() +
                        ", which has no mean; predict probabilities, such as {probability: {Softmax: "
                        "logits}}");
  }
}

/// Inputs that are not given, so samples must have them.
std::vector<std::string> SamplePredictor::needed_inputs(const InferenceModel& model) const {
  std::vector<std::string> all;
  for (const TowerInput& input : inputs_) all.push_back(input.name);
  std::vector<std::string> needed = Predictor(model.handle(), model.outputs(), all).needed_inputs();
  std::erase_if(needed, [this](const std::string& name) { return given_.contains(name); });
  return needed;
}

std::unique_ptr<FileSamples> SamplePredictor::samples_of(const InferenceModel& model,
                                                         const InferOptions& options, FileList& list) {
  const std::vector<std::string> needed = needed_inputs(model);
  const SampleRequest request{needed, needs_truth(model, options), options.full_size,
                              !options.images.empty()};
  if (!options.data.empty()) return make_flow_samples(model, request, options.data);
  if (!options.count) {
    const std::vector<std::string> files = list.known();
    if (files.empty())
      throw DataError("no input files; name images, folders, @LIST, or - for a list on standard input");
    return make_file_samples(model, request, files);
  }
  if (!needed.empty())
    throw ConfigError("--count: the outputs depend on " + join(needed, ", ") + "; set it with --input " +
                      needed[0] + "=VALUE, or name files that contain it");
  return make_counted_samples(model);
}

/// Inputs from the samples, then given ones; a given input replaces that of a sample.
std::vector<std::string> SamplePredictor::input_names() const {
  std::vector<std::string> names = samples_->inputs();
  std::erase_if(names, [this](const std::string& name) { return given_.contains(name); });
  for (const auto& [name, value] : given_) names.push_back(name);
  return names;
}

const TowerInput* SamplePredictor::image_input(size_t number) const {
  const std::string name = input_names()[number];
  const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const TowerInput& input) { return input.name == name; });
  return found->layout.empty() ? nullptr : &*found;
}

void SamplePredictor::check_flips() const {
  bool has_image = false;
  for (size_t i = 0; i < input_names().size(); ++i) has_image |= image_input(i) != nullptr;
  if (!has_image) throw ConfigError("--augment flip: no input of this model is an image");
  check_means("--augment flip");
  for (size_t i = 0; i < predictor_->forms().size(); ++i) {
    if (predictor_->forms()[i].spec.shape.rank() > 1)
      throw ConfigError("--augment flip: output '" + predictor_->outputs()[i].name + "' is " +
                        predictor_->forms()[i].spec.str() + "; it must be one number or a list of numbers");
  }
}

/// Flips images left to right.
std::vector<Tensor> SamplePredictor::flipped(const std::vector<Tensor>& batch) const {
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

}  // namespace tpack
