#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"
#include "dataflow/map.h"
#include "dataflow/moments.h"
#include "image/image.h"

namespace tpack {

/// Statistics of one index of a component, such as a channel of an image or a column of a table.
struct PlaceNumbers : Moments {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  int64_t missing = 0;  // NaN

  using Moments::add;
  void add(double x) {
    Moments::add(x);
    if (std::isnan(x)) ++missing;
    if (x < least) least = x;  // not NaN
    if (x > most) most = x;
  }
  void add(const PlaceNumbers& other) {
    Moments::add(other);
    missing += other.missing;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

/// Statistics of a component: by channel of an image, by element of a short vector, otherwise all together.
/// Empty for classes.
using ComponentNumbers = std::vector<PlaceNumbers>;

/// The stored information on a sample.
struct ScannedSample {
  int64_t index = 0;  // in its source
  std::array<uint64_t, 2> content =
      {};                             // hash of its first image; without images, of everything except classes
  uint64_t rest = 0;                  // hash of everything else: classes, masks, targets
  std::optional<uint64_t> look = {};  // perceptual_hash of the first image
  std::optional<int32_t> label = {};  // class of the first component of class numbers
  ImageSize size = {};                // of the first image
  bool is_gray = false;               // it has three channels that are equal in every pixel

  double aspect() const {
    return static_cast<double>(std::max(size.width, size.height)) / std::min(size.width, size.height);
  }
};

/// A sample that cannot be read.
struct UnreadSample {
  int64_t index = 0;  // in its source
  std::string name;   // its file, or "sample 17"
  std::string reason;
};

/// Findings on the stored samples of a flow: the samples of its source, before any map.
struct FlowScan {
  std::string name;
  Spec spec;
  std::optional<size_t> image;  // the first image component
  std::optional<size_t> label;  // the first component of class numbers
  std::vector<ScannedSample> samples;
  std::vector<UnreadSample> unread;
  std::vector<std::string> remarks;       // of the source
  std::vector<ComponentNumbers> numbers;  // by component
  std::map<std::string, std::vector<int64_t>> classes =
      {};  // samples (of masks: pixels) by component and class
  std::map<std::string, std::vector<std::string>> columns = {};  // by component: the columns of its elements
  FlowPtr source;

  /// The file of a sample, or "sample 17".
  std::string name_of(int64_t index) const;
  /// The class of a sample; empty if it has none.
  std::string class_of(const ScannedSample& sample) const;
};

struct ScanOptions {
  enum class Hashes : bool { kNo, kYes };
  size_t workers = 1;
  Hashes hashes = Hashes::kYes;  // false: content, rest and look stay empty
  /// Called with the number of samples so far, by one thread at a time.
  std::function<void(int64_t done)> progress = [](int64_t) {};
};

/// The source of a flow as a flow of its samples, in stored order if known: before maps, shuffling and
/// batches. Inside a JoinData, maps of its flows count as part of the source.
FlowPtr stored_samples(const DataFlow& flow);
/// The maps between them and the batches, in order. The flow owns them.
std::vector<const MapFlow*> maps_before_batches(const DataFlow& flow);

/// Reads every stored sample once. The result does not depend on the number of workers. Errors: those of
/// DataFlow::prepare; DataError for a flow that never ends. Bad samples are not errors.
FlowScan scan_flow(const std::string& name, const DataFlow& flow, const ScanOptions& options);

}  // namespace tpack
