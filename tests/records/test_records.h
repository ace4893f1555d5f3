#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dataflow/tar_writer.h"
#include "records/format/tf_example.h"
#include "records/format/tf_record.h"

namespace tpack {

/// The bytes of a record in a TFRecord file.
inline std::string framed_record(const std::string& bytes) {
  const TfRecordFrame frame = tf_record_frame(bytes);
  std::string record(frame.header.begin(), frame.header.end());
  record += bytes;
  return record.append(frame.footer.begin(), frame.footer.end());
}

/// A record with a number for each feature.
inline std::string tf_record_of(const std::map<std::string, int64_t>& features) {
  TfExampleWriter example;
  for (const auto& [name, number] : features) example.add_integers(name, {&number, 1});
  return framed_record(example.finish());
}

}  // namespace tpack
