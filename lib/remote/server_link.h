#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "remote/message_library.h"
#include "remote/remote_protocol.h"

namespace tpack {

/// How clients reach servers.
struct LinkSettings {
  std::string server_key = {};  // public key of CURVE; empty: not encrypted
  double reconnect_s = 30;      // how long a server may be away
  int64_t memory_bytes = 0;     // of items that were sent, but not used
};

/// An item of a server.
struct RemoteItem {
  int64_t first = 0;    // number of its first sample in the pass
  int64_t samples = 0;  // at least 1
  int64_t used = 0;     // of these, which came with an earlier item or are before the wanted position
  MessageFrame values;  // SampleFrame
  MessageFrames parts;
};

/// The connection of a client to a server, for one pass. It reconnects to a server that was away, and goes on
/// after the last item that it has received. Threads: one at a time, any.
class ServerLink {
 public:
  /// Errors: those of the address.
  ServerLink(const std::shared_ptr<MessageContext>& context, std::string address, LinkSettings settings);
  ~ServerLink();
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;

  /// Asks for a pass, or only for the spec; `attempt` and `credit` are set here.
  void ask(const RemoteHello& hello);
  /// The same of a server whose spec is known: another one is an error.
  void ask(const RemoteHello& hello, const RemoteSpec& known);
  /// Waits for the spec. Errors: DataError if there is no such server, or if it refuses; Stopped.
  const RemoteSpec& spec();
  /// Waits for the next item; nothing at the end of the pass. Errors: DataError with the address and the
  /// reason; Stopped.
  std::optional<RemoteItem> next();

 private:
  void send_hello();
  void pump();
  void take_events();
  void take_messages();
  void take(MessageFrames frames);
  void check_contact();
  DataError failed(const std::string& text) const { return {address_, text}; }

  std::string address_;
  LinkSettings settings_;
  MessageSocket socket_;
  RemoteHello hello_;
  std::optional<RemoteSpec> spec_;
  std::deque<RemoteItem> items_;
  int64_t queued_bytes_ = 0;
  int64_t used_bytes_ = 0;  // since credit was sent
  bool has_ended_ = false;
  bool was_connected_ = false;
  bool has_said_ = false;  // that it waits
  std::optional<double> away_since_s_;
  std::string why_away_;
  int failed_handshakes_ = 0;
  std::string failure_;  // after the items that wait
};

}  // namespace tpack
