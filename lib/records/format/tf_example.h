#pragma once

#include <span>

#include "records/record_fields.h"

namespace tpack {

/// Adds the features of a serialized tf.Example, or the context and the feature lists of a
/// tf.SequenceExample. One text or image of bytes is kBytes, numbers are kArray: [] for one, otherwise [n];
/// a list of features with n numbers each is [steps, n]. `example` must live as long as the fields. Errors:
/// DataError if it is damaged. Source: tensorflow/core/example/feature.proto, example.proto.
void read_tf_example(std::span<const uint8_t> example, RecordFields& fields);

/// A tf.Example under construction. Errors: InternalError for a message above 2 GB.
class TfExampleWriter {
 public:
  void add_bytes(std::string_view name, std::string_view bytes);
  void add_floats(std::string_view name, std::span<const float> numbers);
  void add_integers(std::string_view name, std::span<const int64_t> numbers);
  /// The message; the writer is empty afterwards.
  std::string finish();

 private:
  void add_feature(std::string_view name, uint32_t kind, std::string_view list);
  std::string features_;
};

}  // namespace tpack
