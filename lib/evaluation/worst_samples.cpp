#include "evaluation/worst_samples.h"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "data_tools/contact_sheet.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "draw/text_table.h"
#include "predict/output_images.h"

namespace tpack {
namespace {

constexpr int64_t kMostShown = 4;  // of a sample, in a table

/// The class with the best score for each pixel; for one channel, whether it is above 0. Shapes: scores [C,
/// H, W] -> uint8 [H, W].
Tensor mask_of(const Tensor& scores) {
  const Shape& shape = scores.shape();
  Tensor mask(DType::kUInt8, {shape[1], shape[2]});
  const int64_t pixels = mask.elements();
  for (int64_t i = 0; i < pixels; ++i) {
    int64_t best = 0;
    for (int64_t c = 1; c < shape[0]; ++c)
      if (scores.at(c * pixels + i) > scores.at(best * pixels + i)) best = c;
    if (shape[0] == 1) best = scores.at(i) > 0 ? 1 : 0;
    mask.data<uint8_t>()[i] = static_cast<uint8_t>(std::min<int64_t>(best, 255));
  }
  return mask;
}

/// An image [C, H, W] as uint8 [H, W, C].
Tensor picture_of(const Tensor& values, const PixelRange& range) {
  const Tensor pixels = OutputImages({}).pixels({.spec = values.spec()}, values, range);
  Tensor out(DType::kUInt8, pixels.shape());
  std::ranges::transform(pixels.span<float>(), out.data<uint8_t>(),
                         [](float x) { return static_cast<uint8_t>(std::clamp(x + 0.5F, 0.0F, 255.0F)); });
  return out;
}

}  // namespace

WorstSamples::WorstSamples(const Evaluator& evaluator, size_t count) : count_(count) {
  if (evaluator.targets().empty())
    throw ConfigError("the worst samples: no term of the cost compares predictions with targets");
  target_ = evaluator.targets()[0];
  classes_ = evaluator.class_names(0);
  batch_size_ = evaluator.batch_size();
}

std::string WorstSamples::text_of(const Tensor& values, int64_t row, bool predicted) const {
  const int64_t elements = values.elements() / values.shape()[0];
  std::vector<std::string> texts;
  for (int64_t i = 0; i < elements; ++i) {
    const double value = values.at(row * elements + i);
    if (!target_.classes) {
      texts.push_back(short_text(value));
    } else if (value > (predicted ? 0 : 0.5)) {
      const auto label = static_cast<size_t>(i);
      texts.push_back(label < classes_.size() ? classes_[label] : std::to_string(i));
    }
  }
  const bool cut = std::ssize(texts) > kMostShown;
  if (cut) texts.resize(kMostShown);
  return join(texts, ", ") + (cut ? ", ..." : "");
}

void WorstSamples::see(int64_t batch, std::span<const TargetBatch> compared) {
  const TargetBatch& of = compared[0];
  // The least bad one is in front; of equal losses, the later one.
  const auto is_worse = [](const Entry& a, const Entry& b) {
    return std::tuple(-a.sample.loss, a.place) < std::tuple(-b.sample.loss, b.place);
  };
  for (int64_t row = 0; row < of.predictions.shape()[0]; ++row) {
    const auto sample = compared_sample(of, row);
    if (!sample) continue;
    if (entries_.size() == count_ && !(sample->loss > entries_.front().sample.loss)) continue;
    Entry entry{batch * batch_size_ + row, *sample, {}, {}};
    const auto class_text = [&](int64_t c) {
      if (c < 0) return std::string("(none)");
      const auto number = static_cast<size_t>(c);
      if (number < classes_.size()) return classes_[number];
      if (target_.has_logits()) return std::string(c == 1 ? "yes" : "no");
      return std::to_string(c);
    };
    if (sample->actual >= 0) {
      entry.actual = class_text(sample->actual);
      entry.predicted = class_text(sample->predicted);
    } else if (of.predictions.shape().rank() < 4) {  // pixels are too many to write
      entry.actual = text_of(of.targets, row, false);
      entry.predicted = text_of(of.predictions, row, true);
    } else {
      keep_pictures(entry, of, row);
    }
    if (entries_.size() == count_) {
      std::pop_heap(entries_.begin(), entries_.end(), is_worse);
      entries_.pop_back();
    }
    entries_.push_back(std::move(entry));
    std::push_heap(entries_.begin(), entries_.end(), is_worse);
  }
}

/// For a sample that is compared by its pixels.
void WorstSamples::keep_pictures(Entry& entry, const TargetBatch& of, int64_t row) const {
  const Tensor prediction = of.predictions.row(row);
  const Tensor truth = of.targets.row(row);
  if (target_.classes) {
    entry.answer = mask_of(prediction);
    entry.truth = Tensor(DType::kUInt8, entry.answer.shape());
    for (int64_t i = 0; i < truth.elements(); ++i)
      entry.truth.data<uint8_t>()[i] = static_cast<uint8_t>(std::clamp(truth.at(i), 0.0, 255.0));
  } else if (const int64_t channels = prediction.shape()[0];
             truth.shape() == prediction.shape() && (channels == 1 || channels == 3)) {
    const PixelRange range = likely_range({}, std::span(&truth, 1));
    entry.answer = picture_of(prediction, range);
    entry.truth = picture_of(truth, range);
  }
}

void WorstSamples::find(const DataFlow& flow, uint64_t seed) {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.place < b.place; });
  const Flow& samples = batched_of(*flow.flow())->up();
  const Spec& spec = samples.spec();
  const auto image = std::find_if(spec.begin(), spec.end(), [](const auto& c) { return c.is_image; });
  const auto cursor = samples.open({seed, 0, 0});
  int64_t at = 0;
  Datapoint item;
  for (Entry& entry : entries_) {
    cursor->skip(entry.place - at);
    if (!cursor->next(item)) break;
    at = entry.place + 1;
    entry.name = sample_name(samples, item.id());
    if (image != spec.end()) entry.image = item.to_tensor(static_cast<size_t>(image - spec.begin())).clone();
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.sample.loss > b.sample.loss; });
}

/// Whether targets can be written in a table; pictures cannot.
bool WorstSamples::has_texts() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.answer.empty(); });
}

std::string WorstSamples::str() const {
  std::vector<std::string> header = {"sample", target_.term};
  if (has_texts()) header.insert(header.end(), {"actual", "predicted"});
  const bool has_classes = !entries_.empty() && entries_[0].sample.actual >= 0;
  if (has_classes) header.emplace_back("probability");
  TextTable table(header);
  for (const Entry& entry : entries_) {
    std::vector<std::string> row = {entry.name, short_text(entry.sample.loss)};
    if (has_texts()) row.insert(row.end(), {entry.actual, entry.predicted});
    if (has_classes) row.push_back(short_text(entry.sample.confidence));
    table.add(row);
  }
  return table.str();
}

nlohmann::ordered_json WorstSamples::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Entry& entry : entries_) {
    list.push_back({{"sample", entry.name}, {"loss", entry.sample.loss}});
    if (has_texts()) list.back().update({{"actual", entry.actual}, {"predicted", entry.predicted}});
    if (entry.sample.actual >= 0) list.back()["probability"] = entry.sample.confidence;
  }
  return list;
}

void WorstSamples::write_images(const std::string& path) const {
  std::vector<CaptionedImage> images;
  int columns = 8;
  bool has_masks = false;
  for (const Entry& entry : entries_) {
    if (entry.image.shape().rank() != 3) continue;
    if (entry.answer.empty()) {
      images.push_back({entry.image, entry.actual + " > " + entry.predicted});
      continue;
    }
    columns = 6;
    images.push_back({entry.image, "loss " + short_text(entry.sample.loss)});
    has_masks = entry.answer.shape().rank() == 2;
    for (const auto& [name, tensor] :
         {std::pair("truth", entry.truth), std::pair("prediction", entry.answer)})
      images.push_back(has_masks ? CaptionedImage{entry.image, name, tensor} : CaptionedImage{tensor, name});
  }
  if (images.empty()) throw ConfigError(path + ": the samples have no image");
  write_image_sheet(images, path, columns, has_masks ? legend_of_masks(classes_) : Legend());
}

}  // namespace tpack
