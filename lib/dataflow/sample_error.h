#pragma once

#include <string>

#include "core/error.h"
#include "dataflow/sample_key.h"

namespace tpack {

/// The end of the message for a bad row of a table: how to skip such rows.
constexpr const char* kLeaveRowsOut =
    "; to skip such rows, write the flow as {on_error: replace, flow: [...]} (or use skip); with eval: "
    "--on-error skip";

/// The position of a sample when an error occurred.
struct SamplePlace {
  std::string stage;  // name of the component
  SampleId id = {};
  std::string file = {};   // file of the sample; empty if there is none
  Position position = {};  // of the component in the config
};

/// An error of a source or map, with its position in the config, the stage, the sample and its file:
/// "train.yaml:7:7: map_data_0, sample 17 of pass 0: ants/1.jpg: text". Keeps the kind of the original error;
/// exceptions that are not tpack's become data errors.
class SampleError : public Error {
 public:
  /// `fix` ends the message; it is not part of `text`.
  SampleError(ErrorKind kind, const SamplePlace& place, const std::string& text, const std::string& fix = "");

  const SamplePlace& place() const { return place_; }
  const std::string& text() const { return text_; }

 private:
  SamplePlace place_;
  std::string text_;
};

/// A bad sample, found by a part of a component with its own position, such as one augmentor of a list.
class PartError : public DataError {
 public:
  /// `file`: the file of the sample, if the part knows it.
  PartError(Position position, std::string file, const std::string& text)
      : DataError(text), position_(std::move(position)), file_(std::move(file)) {}
  const Position& position() const { return position_; }
  const std::string& file() const { return file_; }

 private:
  Position position_;
  std::string file_;
};

/// Rethrows the current exception as a SampleError; a SampleError is not changed.
[[noreturn]] void rethrow_with_sample(const SamplePlace& place);

}  // namespace tpack
