#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"
#include "remote/message_library.h"
#include "remote/remote_protocol.h"

namespace tpack {

/// Settings of FlowServer.
struct ServerSettings {
  std::vector<std::string> addresses;  // message_address
  std::string secret_key = {};         // CURVE; empty: not encrypted
  int64_t part = 0;                    // serves the items n with n mod parts = part
  int64_t parts = 1;
};

/// Sends the items of a flow to clients (source RemoteData) over ZeroMQ. Each client says where in which pass
/// it begins, and gets that pass of the flow as if it read the flow itself; clients that share a pass get
/// each item once among them. All bytes of clients may be hostile: what is not a request gets an answer that
/// refuses it, and memory is limited by the number of clients and the slots of the flow.
///
/// Errors of the constructor: DataError, ConfigError of the flow; ResourceError for an address. Threads: one.
class FlowServer {
 public:
  FlowServer(DataFlow flow, ServerSettings settings);
  ~FlowServer();
  FlowServer(const FlowServer&) = delete;
  FlowServer& operator=(const FlowServer&) = delete;

  /// The addresses with their ports.
  const std::vector<std::string>& addresses() const { return bound_; }
  const RemoteSpec& spec() const { return spec_; }
  /// Serves until a stop is requested.
  void run(const std::stop_token& stop);
  int64_t samples_sent() const { return samples_sent_; }

 private:
  struct ReadyItem;
  class ServedPass;
  struct Client {
    std::shared_ptr<ServedPass> pass;
    int64_t attempt = 0;
    int64_t credit = 0;  // bytes
    bool has_ended = false;
  };

  /// A pass that a group of clients divides.
  struct SharedPass {
    std::string key;
    std::shared_ptr<ServedPass> pass;  // null: all of it was given out
  };

  static ReadyItem ready_item(Batch got, const Spec& spec, int64_t first);
  bool answer(const std::string& client, const RemoteAnswer& answer);
  void take(MessageFrames request);
  /// Errors: DataError for a place that no pass has, or that costs too much to reach.
  void check_index(int64_t index) const;
  void begin(const std::string& client, const RemoteHello& hello);
  std::shared_ptr<ServedPass> pass_for(const RemoteHello& hello);
  bool serve(const std::string& name, Client& client);
  void drop_vanished();
  void report(double seconds);

  DataFlow flow_;
  ServerSettings settings_;
  RemoteSpec spec_;
  std::shared_ptr<MessageContext> context_ = std::make_shared<MessageContext>();
  MessageSocket socket_;
  std::vector<std::string> bound_;
  int wake_ = -1;                          // an event: an item is ready
  std::map<std::string, Client> clients_;  // by routing id
  std::deque<SharedPass> shared_;          // of groups of clients, the oldest first
  std::atomic<int64_t> samples_sent_ = 0;
  int64_t reported_ = 0;
  double refused_s_ = -1e9;  // when a client was refused last
};

}  // namespace tpack
