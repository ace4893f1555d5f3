#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "records/record_components.h"
#include "records/stored_record.h"
#include "remote/message_library.h"

namespace tpack {

/// The endless samples of tensorpack's send_dataflow_zmq: each message is a serialized datapoint. Threads:
/// any; readers take turns.
///
/// Source: tensorpack dataflow/remote.py.
class TensorpackFeed {
 public:
  /// Connects to the addresses, or waits for senders at `bind`. `patience_s`: how long no sample may come.
  /// Errors: ResourceError for an address.
  TensorpackFeed(const std::vector<std::string>& connect, const std::string& bind, double patience_s);

  /// Reads the first sample, and learns the components from it; it is the first one of `next`, too. Errors:
  /// DataError, ConfigError.
  RecordComponents learn(const std::vector<ComponentOfField>& wanted);
  /// The next sample. Errors: DataError if none comes, or if it is damaged; Stopped.
  void next(RecordFields& fields);

 private:
  std::shared_ptr<MessageFrame> receive();
  static void add(const std::shared_ptr<MessageFrame>& message, RecordFields& fields);

  std::mutex mutex_;
  std::string where_;
  double patience_s_;
  MessageSocket socket_;
  std::shared_ptr<MessageFrame> first_;  // null: taken
};

}  // namespace tpack
