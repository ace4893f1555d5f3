#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// How stored samples become a file of records.
struct ConvertOptions {
  /// Its ending chooses the format: .lmdb, .tfrecord, .tar, .npz or .h5. With a range, such as
  /// part-{000..127}.tar, the samples are divided evenly among several files.
  std::string out;
  /// A new order, from this seed, instead of that of the data.
  std::optional<uint64_t> shuffle = {};
  /// Applies the maps before BatchData, so that the file has their results.
  bool maps = false;
  size_t workers = 1;       // threads
  double save_seconds = 2;  // between two points from which another call goes on
  std::function<void(int64_t done)> progress = [](int64_t) {};
};

struct Converted {
  int64_t samples = 0;
  int64_t continued_at = 0;  // samples that an earlier, interrupted call wrote
  std::string source;        // the item of a config that reads them: "TFRecord: {files: train.tfrecord}"
};

/// Writes the stored samples of a flow, before its stages, and before its maps unless `maps` is set; encoded
/// images keep their bytes. Each file gets its name when it is complete; until then, the folder NAME.partial
/// has its parts, and another call of the same conversion goes on with them. Errors: ConfigError for an
/// unknown ending, a file that exists, or components that the format cannot hold; DataError for a sample that
/// cannot be read; ResourceError; Stopped after a stop request (core/stop.h), with the samples so far saved.
Converted convert_flow(const DataFlow& flow, const ConvertOptions& options);

/// The endings of names of files that can be written: ".lmdb, .tfrecord, .tar, .npz and .h5".
std::string record_endings();

}  // namespace tpack
