#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataflow/datapoint.h"
#include "dataflow/spec.h"
#include "records/record_components.h"

namespace tpack {

/// Writes samples into a file of one format, below a folder that only it uses. A writer of the same samples
/// in the same folder goes on where an earlier one stopped. Threads: `encode` by any number at once, the
/// others by one.
class RecordWriter {
 public:
  RecordWriter() = default;
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  virtual ~RecordWriter() = default;

  /// The samples that are in the file already.
  virtual int64_t samples() const = 0;
  /// The bytes of a sample in the file. Errors: DataError if the format cannot hold it.
  virtual std::string encode(Datapoint& sample, int64_t index) const = 0;
  /// Adds the next sample. Errors: ResourceError.
  virtual void append(std::string encoded) = 0;
  /// After this, no earlier sample is lost if the process or the machine ends. Errors: ResourceError.
  virtual void save() = 0;
  /// Completes the file, at this path. Errors: ResourceError.
  virtual void finish(const std::string& path) = 0;
  /// Components as their source reads them again; empty if it needs no description.
  virtual std::vector<ComponentOfField> components() const { return {}; }
};

/// A component of samples under the name of a field.
ComponentOfField component_as(const ComponentSpec& component, std::string field);

struct RecordFormat {
  const char* ending;  // of file names, with its point
  const char* source;  // which reads it: "TFRecord"
  const char* field;   // of the source, for the path
  /// `folder` exists. Errors: ConfigError if the format cannot hold the components.
  std::unique_ptr<RecordWriter> (*open)(const std::string& folder, const Spec& spec);
};
std::unique_ptr<RecordWriter> tf_record_writer(const std::string& folder, const Spec& spec);
std::unique_ptr<RecordWriter> tar_writer(const std::string& folder, const Spec& spec);
std::unique_ptr<RecordWriter> lmdb_writer(const std::string& folder, const Spec& spec);

}  // namespace tpack
