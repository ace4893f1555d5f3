#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataflow/flow.h"
#include "dataflow/spec.h"

namespace tpack {

/// What a server and its clients tell each other: the first frame of each message is one line of JSON. An
/// item has a second frame, which describes its values (SampleFrame), and a frame for each value with bytes.
constexpr int kRemoteProtocol = 1;

/// From a client: where it wants to go on. A later one replaces it; answers carry the number of the attempt.
struct RemoteHello {
  int64_t attempt = 0;
  uint64_t seed = 0;
  int64_t pass = 0;
  int64_t repeat = 0;
  int64_t index = 0;       // of the first sample
  std::string group = {};  // clients of one group divide the pass among them; empty: it gets all
  bool reads = true;       // false: it asks only for the spec
  int64_t credit = 0;      // bytes that may be sent to it
};

/// A message of a client.
struct RemoteRequest {
  enum class Kind : uint8_t { kHello, kCredit, kBye };
  Kind kind = Kind::kBye;
  RemoteHello hello = {};
  int64_t attempt = 0;  // of kCredit
  int64_t credit = 0;   // of kCredit

  std::string str() const;
  /// Errors: DataError with a text for the sender.
  static RemoteRequest parse(std::string_view text);
};

/// What a server serves.
struct RemoteSpec {
  Spec samples;
  int64_t batch = 0;                  // samples of an item; 0: items are single samples
  std::optional<int64_t> items = {};  // of a pass, if they are known
  std::optional<int64_t> samples_of_pass = {};
  bool is_endless = false;
  Seek seek = Seek::kExact;

  int64_t per_item() const { return batch == 0 ? 1 : batch; }
  /// What must be the same whenever the server is asked: components with their classes, and sizes.
  std::string str() const;
};

/// A message of a server.
struct RemoteAnswer {
  enum class Kind : uint8_t {
    kSpec,
    kItem,
    kEnd,      // of the pass
    kError,    // of the data
    kRefused,  // the client does not fit
    kClosing,  // the server ends
    kAlive
  };
  Kind kind = Kind::kAlive;
  int64_t attempt = 0;
  int64_t first = 0;    // number of the first sample of an item in the pass of this server
  int64_t samples = 0;  // of an item
  std::string text = {};
  RemoteSpec spec = {};

  std::string str() const;
  /// Errors: DataError.
  static RemoteAnswer parse(std::string_view text);
};

}  // namespace tpack
