#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.h>

#include "system/shared_library.h"

namespace tpack {

/// The functions of libzmq, which is opened on first use: it loads four other libraries.
struct MessageLibrary {
  SharedLibrary library{"libzmq.so.5", "libzmq5"};
  decltype(&zmq_init) context_start = nullptr;
  decltype(&zmq_ctx_term) context_end = nullptr;
  decltype(&zmq_socket) socket = nullptr;
  decltype(&zmq_close) close = nullptr;
  decltype(&zmq_setsockopt) set_option = nullptr;
  decltype(&zmq_getsockopt) get_option = nullptr;
  decltype(&zmq_bind) bind = nullptr;
  decltype(&zmq_connect) connect = nullptr;
  decltype(&zmq_socket_monitor) monitor = nullptr;
  decltype(&zmq_poll) poll = nullptr;
  decltype(&zmq_msg_init) message_init = nullptr;
  decltype(&zmq_msg_init_size) message_init_size = nullptr;
  decltype(&zmq_msg_init_data) message_init_data = nullptr;
  decltype(&zmq_msg_data) message_data = nullptr;
  decltype(&zmq_msg_size) message_size = nullptr;
  decltype(&zmq_msg_more) message_more = nullptr;
  decltype(&zmq_msg_send) message_send = nullptr;
  decltype(&zmq_msg_recv) message_receive = nullptr;
  decltype(&zmq_msg_close) message_close = nullptr;
  decltype(&zmq_curve_keypair) key_pair = nullptr;
  decltype(&zmq_curve_public) public_key = nullptr;
  decltype(&zmq_errno) error = nullptr;
  decltype(&zmq_strerror) error_text = nullptr;

  MessageLibrary();
  /// Errors: ResourceError if the library is not installed.
  static const MessageLibrary& get();
  /// "address in use", of the last call that failed.
  std::string why() const { return error_text(error()); }
};

/// One frame of a message. Movable; owns its bytes.
class MessageFrame {
 public:
  MessageFrame();
  /// A copy of these bytes.
  explicit MessageFrame(std::string_view bytes);
  /// Bytes that `owner` keeps alive until they are sent: no copy.
  MessageFrame(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  MessageFrame(MessageFrame&& other) noexcept;
  MessageFrame& operator=(MessageFrame&& other) noexcept;
  MessageFrame(const MessageFrame&) = delete;
  MessageFrame& operator=(const MessageFrame&) = delete;
  ~MessageFrame();

  std::span<const uint8_t> bytes() const;
  std::string_view text() const;
  zmq_msg_t& message() { return message_; }

 private:
  mutable zmq_msg_t message_ = {};
};

using MessageFrames = std::vector<MessageFrame>;

/// Keys of CURVE, as 40 characters of Z85.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;

  static constexpr size_t kCharacters = 40;
  /// Errors: ResourceError if libzmq was built without CURVE.
  static CurveKeys make();
  /// Errors: DataError if it is not a secret key.
  static CurveKeys of_secret(const std::string& secret);
};

/// The threads of libzmq; shared by sockets.
class MessageContext {
 public:
  MessageContext();
  ~MessageContext();
  MessageContext(const MessageContext&) = delete;
  MessageContext& operator=(const MessageContext&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
};

/// A socket. Threads: one at a time.
class MessageSocket {
 public:
  /// `type`: ZMQ_ROUTER. Heartbeats find peers that have vanished.
  MessageSocket(std::shared_ptr<MessageContext> context, int type);
  ~MessageSocket();
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;

  void set(int option, int value);
  void set_text(int option, const std::string& value);
  /// Largest frame that is received; a peer that sends a larger one is disconnected.
  void set_most_bytes(int64_t bytes);
  /// Errors: ResourceError with the address.
  void bind(const std::string& address);
  void connect(const std::string& address);
  /// The address that it is bound to, with its port.
  std::string bound_address() const;
  /// From now on, `next_event` reports what happens to its connections.
  void watch_connections();
  /// The next ZMQ_EVENT_...; nothing if there is none at the moment.
  std::optional<int> next_event();

  /// False if the peer is gone, or cannot take it now; the frames are then lost.
  bool send(MessageFrames frames);
  /// The next message; nothing if there is none at the moment.
  std::optional<MessageFrames> receive();
  void* get() const { return socket_; }
  void* events() const { return events_; }

 private:
  const MessageLibrary& zmq_;
  std::shared_ptr<MessageContext> context_;
  void* socket_;
  void* events_ = nullptr;
};

/// "9000" is port 9000 of this machine: tcp://127.0.0.1:9000; an address is itself. Errors: ConfigError.
std::string message_address(const std::string& text);
/// Whether only this machine can connect to the address.
bool is_local_address(const std::string& address);

}  // namespace tpack
