#pragma once

#include <cstdint>
#include <string>

#include "monitor/proto_message.h"
#include "system/file_io.h"

namespace tpack {

/// A TensorBoard event file: records of length, masked CRC, message, masked CRC. Records wait in memory until
/// `flush`. Errors: as AppendFile; after an error the file may end in a torn record, which readers skip only
/// at the end, so the caller must continue with a new file.
class EventFile {
 public:
  /// Makes events.out.tfevents.TIME.HOST.PID.NUMBER in the folder.
  explicit EventFile(const std::string& folder, FileIo& io = FileIo::system());

  /// Adds an Event with this summary. Field numbers are those of tensorflow/core/util/event.proto.
  void add_summary(const ProtoMessage& summary, int64_t step);
  /// Tells readers to ignore values of `step` and later in older files.
  void add_restart(int64_t step);
  void flush();
  const std::string& path() const { return file_.path(); }

 private:
  void add(const ProtoMessage& event);

  AppendFile file_;
  std::string waiting_;
};

}  // namespace tpack
