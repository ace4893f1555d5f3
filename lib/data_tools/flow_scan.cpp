#include "data_tools/flow_scan.h"

#include <cstring>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "core/map_in_order.h"
#include "data_tools/perceptual_hash.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/fitted_data.h"
#include "dataflow/random_access_flow.h"
#include "image/frames.h"

namespace tpack {
namespace {

constexpr int64_t kChunk = 32;         // samples that a thread reads at once
constexpr int64_t kMostPlaces = 1000;  // largest vector whose elements have separate statistics
constexpr int kMaxBadInARow =
    1000;  // limit of bad samples in a row for sequential flows: then the samples are not the cause

/// The samples of a chunk: their places, or the samples themselves if the flow is sequential.
struct ChunkOfSamples {
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<Datapoint> read = {};
  std::vector<UnreadSample> unread = {};
};

/// Findings of a chunk of samples, or of several consecutive ones.
struct Findings {
  std::vector<ScannedSample> samples;
  std::vector<UnreadSample> unread;
  std::vector<ComponentNumbers> numbers;
  std::map<std::string, std::vector<int64_t>> classes;

  void add(Findings other) {
    std::move(other.samples.begin(), other.samples.end(), std::back_inserter(samples));
    std::move(other.unread.begin(), other.unread.end(), std::back_inserter(unread));
    numbers.resize(std::max(numbers.size(), other.numbers.size()));
    for (size_t c = 0; c < other.numbers.size(); ++c) {
      numbers[c].resize(std::max(numbers[c].size(), other.numbers[c].size()));
      for (size_t k = 0; k < other.numbers[c].size(); ++k) numbers[c][k].add(other.numbers[c][k]);
    }
    for (const auto& [component, counts] : other.classes) {
      std::vector<int64_t>& own = classes[component];
      own.resize(std::max(own.size(), counts.size()));
      for (size_t k = 0; k < counts.size(); ++k) own[k] += counts[k];
    }
  }
};

std::string name_in(const Flow& flow, int64_t index) { return sample_name(flow, {0, index, 0}); }

/// The text of the current exception if it is a data error; rethrows others.
UnreadSample unread_sample(const Flow& flow, int64_t index) {
  try {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    const auto* of_sample = dynamic_cast<const SampleError*>(&error);
    UnreadSample one{index, name_in(flow, index), of_sample == nullptr ? error.what() : of_sample->text()};
    if (of_sample != nullptr) {
      one.index = of_sample->place().id.index;
      one.name = name_in(flow, one.index);
    }
    const std::string prefix = one.name + ": ";
    if (one.reason.starts_with(prefix)) one.reason.erase(0, prefix.size());
    return one;
  }
}

void add_to(Digest& digest, const Tensor& values) {
  digest.add(values.spec().str());
  digest.add({reinterpret_cast<const char*>(values.raw()), values.bytes()});
}

bool is_class_number(const ComponentSpec& component) {
  return !component.classes.empty() && component.tensor == TensorSpec{DType::kInt32, {}};
}

/// Inspects samples of one flow. Threads: any number at once.
class SampleScanner {
 public:
  SampleScanner(const FlowScan& scan, ScanOptions::Hashes hashes)
      : spec_(scan.spec), image_(scan.image), label_(scan.label), hashes_(hashes) {
    for (const ComponentSpec& component : spec_) {
      const bool has_content = image_ ? spec_[*image_].name == component.name : component.classes.empty();
      is_content_.push_back(has_content);
    }
    const bool has_any = std::find(is_content_.begin(), is_content_.end(), true) != is_content_.end();
    if (!has_any) is_content_.assign(spec_.size(), true);
  }

  /// Errors: DataError for an image that cannot be decoded; then nothing is counted.
  void scan(Datapoint& d, Findings& into) const {
    std::vector<Tensor> values;
    for (size_t c = 0; c < spec_.size(); ++c) values.push_back(d.to_tensor(c));
    ScannedSample sample{.index = d.id().index};
    if (hashes_ == ScanOptions::Hashes::kYes) hash(values, sample);
    if (label_) sample.label = *values[*label_].data<int32_t>();
    if (image_) look_at(first_frame(values[*image_], spec_[*image_].frames), sample);
    into.numbers.resize(spec_.size());
    for (size_t c = 0; c < spec_.size(); ++c) {
      if (!spec_[c].classes.empty()) {
        count(spec_[c], values[c], into.classes[spec_[c].name]);
      } else {
        measure(spec_[c], values[c], into.numbers[c]);
      }
    }
    into.samples.push_back(sample);
  }

 private:
  void hash(const std::vector<Tensor>& values, ScannedSample& sample) const {
    Digest content;
    Digest rest;
    for (size_t c = 0; c < values.size(); ++c) add_to(is_content_[c] ? content : rest, values[c]);
    sample.content = content.words();
    sample.rest = rest.words()[0];
    const bool is_picture =
        image_ && (spec_[*image_].depth == Depth::k16 || spec_[*image_].tensor.dtype == DType::kUInt8);
    if (is_picture && values[*image_].shape().rank() == 3)
      sample.look = perceptual_hash(first_frame(values[*image_], spec_[*image_].frames));
  }
  static void look_at(const Tensor& image, ScannedSample& sample) {
    const Shape& shape = image.shape();
    if (shape.rank() != 3) return;
    sample.size = {static_cast<int>(shape[1]), static_cast<int>(shape[0])};
    sample.is_gray = shape[2] == 3 && visit(image.dtype(), [&](auto zero) {
                       const auto* p = image.data<decltype(zero)>();
                       for (int64_t i = 0; i < image.elements(); i += 3)
                         if (p[i] != p[i + 1] || p[i] != p[i + 2]) return false;
                       return true;
                     });
  }
  /// Class numbers: of a sample, of pixels, or binary labels for each class.
  static void count(const ComponentSpec& component, const Tensor& values, std::vector<int64_t>& counts) {
    const size_t classes = component.classes.size();
    counts.resize(classes);
    const bool are_boxes = component.annotation == Annotation::kBoxes;  // rows that end in their class
    const bool is_set =
        !are_boxes && is_float(values.dtype()) && values.elements() == std::ssize(component.classes);
    const int64_t step = are_boxes ? values.shape()[-1] : 1;
    for (int64_t i = step - 1; i < values.elements(); i += step) {
      const double value = values.at(i);
      if (is_set && value > 0.5) ++counts[static_cast<size_t>(i)];
      if (!is_set && value >= 0 && value < static_cast<double>(classes)) ++counts[static_cast<size_t>(value)];
    }
  }
  static void measure(const ComponentSpec& component, const Tensor& values, ComponentNumbers& numbers) {
    const Shape& shape = values.shape();
    const bool by_last = component.is_image || (shape.rank() == 1 && shape[0] <= kMostPlaces);
    const auto places =
        static_cast<size_t>(by_last && shape.rank() > 0 ? shape[static_cast<int>(shape.rank()) - 1] : 1);
    numbers.resize(std::max(numbers.size(), places));
    if (values.dtype() == DType::kUInt8) return measure_bytes(values, places, numbers);
    visit(values.dtype(), [&](auto zero) {
      const auto* x = values.data<decltype(zero)>();
      for (int64_t i = 0; i < values.elements(); ++i)
        numbers[static_cast<size_t>(i) % places].add(static_cast<double>(x[i]));
    });
  }
  /// The same with integers, which is many times as fast.
  static void measure_bytes(const Tensor& values, size_t places, ComponentNumbers& numbers) {
    const auto* x = values.data<uint8_t>();
    const auto elements = static_cast<size_t>(values.elements());
    for (size_t place = 0; place < places && place < elements; ++place) {
      uint64_t sum = 0;
      uint64_t squares = 0;
      uint8_t least = 255;
      uint8_t most = 0;
      for (size_t i = place; i < elements; i += places) {
        sum += x[i];
        squares += static_cast<uint64_t>(x[i]) * x[i];
        least = std::min(least, x[i]);
        most = std::max(most, x[i]);
      }
      PlaceNumbers of_sample;
      of_sample.count = static_cast<int64_t>((elements - place + places - 1) / places);
      const auto count = static_cast<double>(of_sample.count);
      of_sample.mean = static_cast<double>(sum) / count;
      of_sample.squares =
          std::max(0.0, static_cast<double>(squares) - of_sample.mean * static_cast<double>(sum));
      of_sample.least = least;
      of_sample.most = most;
      numbers[place].add(of_sample);
    }
  }

  const Spec& spec_;
  std::optional<size_t> image_;
  std::optional<size_t> label_;
  ScanOptions::Hashes hashes_;
  std::vector<bool> is_content_;  // by component
};

/// Provides the chunks of a flow. Threads: one at a time.
class ChunkReader {
 public:
  explicit ChunkReader(const Flow& flow) : flow_(flow) {
    if (flow.access() == Access::kSequential) cursor_ = flow.open({});
  }
  std::optional<ChunkOfSamples> next() {
    if (cursor_ != nullptr) return next_in_order();
    const int64_t begin = next_;
    next_ = std::min(begin + kChunk, flow_.places());
    return begin == next_ ? std::nullopt : std::optional(ChunkOfSamples{.begin = begin, .end = next_});
  }

 private:
  /// Errors: DataError if none of many samples can be read.
  std::optional<ChunkOfSamples> next_in_order() {
    ChunkOfSamples chunk;
    while (!has_ended_ && std::ssize(chunk.read) + std::ssize(chunk.unread) < kChunk) {
      Datapoint d;
      try {
        has_ended_ = !cursor_->next(d);
        if (!has_ended_) chunk.read.push_back(std::move(d));
        bad_in_a_row_ = 0;
      } catch (...) {
        chunk.unread.push_back(unread_sample(flow_, next_));
        if (++bad_in_a_row_ == kMaxBadInARow) throw;
      }
      ++next_;
    }
    return chunk.read.empty() && chunk.unread.empty() ? std::nullopt : std::optional(std::move(chunk));
  }

  const Flow& flow_;
  std::unique_ptr<Cursor> cursor_;
  int64_t next_ = 0;
  bool has_ended_ = false;
  int bad_in_a_row_ = 0;
};

Findings findings_in(ChunkOfSamples chunk, const Flow& flow, const SampleScanner& scanner) {
  Findings found;
  found.unread = std::move(chunk.unread);
  Datapoint by_place;
  const auto scan = [&](Datapoint& d, int64_t place, bool is_read) {
    d.set_id(is_read ? d.id() : SampleId{0, place, 0});
    try {
      if (is_read || flow.get({}, place, d)) scanner.scan(d, found);
    } catch (...) {
      found.unread.push_back(unread_sample(flow, d.id().index));
    }
  };
  for (int64_t place = chunk.begin; place < chunk.end; ++place) scan(by_place, place, false);
  for (Datapoint& d : chunk.read) scan(d, d.id().index, true);
  return found;
}

FlowScan empty_scan(const std::string& name, const DataFlow& flow) {
  FlowScan scan{.name = name};
  scan.source = stored_samples(flow);
  scan.spec = scan.source->spec();
  for (size_t c = 0; c < scan.spec.size(); ++c) {
    if (!scan.image && scan.spec[c].is_image) scan.image = c;
    if (!scan.label && is_class_number(scan.spec[c])) scan.label = c;
  }
  for (const SourceFacts& facts : flow.facts())
    scan.remarks.insert(scan.remarks.end(), facts.remarks.begin(), facts.remarks.end());
  for (const Source* source : flow.sources())
    for (FittedComponent& fitted : source->part<LearnedValues>().fitted())
      scan.columns[fitted.component] = std::move(fitted.columns);
  return scan;
}

}  // namespace

std::string FlowScan::name_of(int64_t index) const { return name_in(*source, index); }

std::string FlowScan::class_of(const ScannedSample& sample) const {
  return sample.label ? spec[*label].class_name(*sample.label) : "";
}

FlowPtr stored_samples(const DataFlow& flow) {
  flow.prepare();
  FlowPtr at = flow.flow();
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at.get())) at = FlowPtr(at, &wrapped->up());
  if (const auto* by_index = dynamic_cast<const RandomAccessFlow*>(at.get())) return by_index->by_index();
  return at;
}

std::vector<const MapFlow*> maps_before_batches(const DataFlow& flow) {
  std::vector<const MapFlow*> maps;
  const Flow* at = flow.flow().get();
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    if (const auto* map = dynamic_cast<const MapFlow*>(at)) maps.push_back(map);
    if (dynamic_cast<const BatchedFlow*>(at) != nullptr) maps.clear();
    at = &wrapped->up();
  }
  std::reverse(maps.begin(), maps.end());
  return maps;
}

FlowScan scan_flow(const std::string& name, const DataFlow& flow, const ScanOptions& options) {
  FlowScan scan = empty_scan(name, flow);
  if (scan.source->size() == kEndless)
    throw DataError("data." + name + " never ends, so its samples cannot all be read");
  const SampleScanner scanner(scan, options.hashes);
  ChunkReader reader(*scan.source);
  Findings all;
  MapInOrder<ChunkOfSamples, Findings>(
      [&] { return reader.next(); },
      [&](ChunkOfSamples chunk) { return findings_in(std::move(chunk), *scan.source, scanner); },
      [&](Findings found) {
        all.add(std::move(found));
        options.progress(std::ssize(all.samples) + std::ssize(all.unread));
      })
      .run("scan " + name, options.workers);
  const auto by_index = [](const auto& a, const auto& b) { return a.index < b.index; };
  std::stable_sort(all.samples.begin(), all.samples.end(), by_index);  // a JoinData may have shuffled them
  std::stable_sort(all.unread.begin(), all.unread.end(), by_index);
  scan.samples = std::move(all.samples);
  scan.unread = std::move(all.unread);
  scan.numbers = std::move(all.numbers);
  scan.classes = std::move(all.classes);
  scan.numbers.resize(scan.spec.size());
  return scan;
}

}  // namespace tpack
