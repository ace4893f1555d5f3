#include "remote/message_library.h"

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

/// With it, other addresses are shown as IPv6, too.
bool has_ipv6(const std::string& address) { return address.find('[') != std::string::npos; }

}  // namespace

MessageLibrary::MessageLibrary() {
  library.find("zmq_init", context_start);
  library.find("zmq_ctx_term", context_end);
  library.find("zmq_socket", socket);
  library.find("zmq_close", close);
  library.find("zmq_setsockopt", set_option);
  library.find("zmq_getsockopt", get_option);
  library.find("zmq_bind", bind);
  library.find("zmq_connect", connect);
  library.find("zmq_socket_monitor", monitor);
  library.find("zmq_poll", poll);
  library.find("zmq_msg_init", message_init);
  library.find("zmq_msg_init_size", message_init_size);
  library.find("zmq_msg_init_data", message_init_data);
  library.find("zmq_msg_data", message_data);
  library.find("zmq_msg_size", message_size);
  library.find("zmq_msg_more", message_more);
  library.find("zmq_msg_send", message_send);
  library.find("zmq_msg_recv", message_receive);
  library.find("zmq_msg_close", message_close);
  library.find("zmq_curve_keypair", key_pair);
  library.find("zmq_curve_public", public_key);
  library.find("zmq_errno", error);
  library.find("zmq_strerror", error_text);
}

const MessageLibrary& MessageLibrary::get() {
  static const MessageLibrary kLibrary;
  return kLibrary;
}

MessageFrame::MessageFrame() { MessageLibrary::get().message_init(&message_); }

MessageFrame::MessageFrame(std::string_view bytes) {
  const MessageLibrary& zmq = MessageLibrary::get();
  if (zmq.message_init_size(&message_, bytes.size()) != 0)
    throw ResourceError("not enough memory for a message of " + with_thousands(std::ssize(bytes)) + " bytes");
  if (!bytes.empty()) std::memcpy(zmq.message_data(&message_), bytes.data(), bytes.size());
}

MessageFrame::MessageFrame(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  using Owner = std::shared_ptr<const void>;
  auto kept = std::make_unique<Owner>(std::move(owner));
  const auto release = [](void* /*data*/, void* hint) { delete static_cast<Owner*>(hint); };
  auto* const data = const_cast<std::byte*>(bytes.data());  // only read
  if (MessageLibrary::get().message_init_data(&message_, data, bytes.size(), release, kept.get()) != 0)
    throw ResourceError("not enough memory for a message");
  static_cast<void>(kept.release());  // freed by libzmq
}

// libzmq's messages may be moved in memory.
MessageFrame::MessageFrame(MessageFrame&& other) noexcept : message_(other.message_) {
  MessageLibrary::get().message_init(&other.message_);
}

MessageFrame& MessageFrame::operator=(MessageFrame&& other) noexcept {
  if (this != &other) std::swap(message_, other.message_);
  return *this;
}

MessageFrame::~MessageFrame() { MessageLibrary::get().message_close(&message_); }

std::span<const uint8_t> MessageFrame::bytes() const {
  const MessageLibrary& zmq = MessageLibrary::get();
  return {static_cast<const uint8_t*>(zmq.message_data(&message_)), zmq.message_size(&message_)};
}

std::string_view MessageFrame::text() const {
  const auto all = bytes();
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

CurveKeys CurveKeys::make() {
  std::array<char, kCharacters + 1> open{};
  std::array<char, kCharacters + 1> secret{};
  const MessageLibrary& zmq = MessageLibrary::get();
  if (zmq.key_pair(open.data(), secret.data()) != 0)
    throw ResourceError("libzmq cannot make keys: " + zmq.why());
  return {open.data(), secret.data()};
}

CurveKeys CurveKeys::of_secret(const std::string& secret) {
  std::array<char, kCharacters + 1> open{};
  if (secret.size() != kCharacters || MessageLibrary::get().public_key(open.data(), secret.c_str()) != 0)
    throw DataError("is not a key of 40 characters, as `tpack data keys` writes it");
  return {open.data(), secret};
}

MessageContext::MessageContext() : context_(MessageLibrary::get().context_start(1)) {
  if (context_ == nullptr) throw ResourceError("libzmq cannot start: " + MessageLibrary::get().why());
}

MessageContext::~MessageContext() {
  const MessageLibrary& zmq = MessageLibrary::get();
  while (zmq.context_end(context_) != 0 && zmq.error() == EINTR) continue;
}

MessageSocket::MessageSocket(std::shared_ptr<MessageContext> context, int type)
    : zmq_(MessageLibrary::get()), context_(std::move(context)), socket_(zmq_.socket(context_->get(), type)) {
  if (socket_ == nullptr) throw ResourceError("libzmq cannot make a socket: " + zmq_.why());
  constexpr int kHeartbeatMs = 2000;
  constexpr int kDeadMs = 10'000;
  constexpr int kFirstReconnectMs = 100;
  constexpr int kLongestReconnectMs = 1000;
  constexpr int kLingerMs = 500;
  set(ZMQ_HEARTBEAT_IVL, kHeartbeatMs);
  set(ZMQ_HEARTBEAT_TIMEOUT, kDeadMs);
  set(ZMQ_RECONNECT_IVL, kFirstReconnectMs);
  set(ZMQ_RECONNECT_IVL_MAX, kLongestReconnectMs);
  set(ZMQ_LINGER, kLingerMs);
}

MessageSocket::~MessageSocket() {
  if (events_ != nullptr) {
    zmq_.monitor(socket_, nullptr, 0);
    zmq_.close(events_);
  }
  zmq_.close(socket_);
}

void MessageSocket::set(int option, int value) {
  if (zmq_.set_option(socket_, option, &value, sizeof value) != 0)
    throw InternalError("libzmq has no option " + std::to_string(option) + ": " + zmq_.why());
}

void MessageSocket::set_text(int option, const std::string& value) {
  if (zmq_.set_option(socket_, option, value.c_str(), value.size()) != 0)
    throw ConfigError("libzmq does not take '" + value + "': " + zmq_.why());
}

void MessageSocket::set_most_bytes(int64_t bytes) {
  zmq_.set_option(socket_, ZMQ_MAXMSGSIZE, &bytes, sizeof bytes);
}

void MessageSocket::bind(const std::string& address) {
  if (has_ipv6(address)) set(ZMQ_IPV6, 1);
  if (zmq_.bind(socket_, address.c_str()) != 0)
    throw ResourceError("cannot bind " + address + ": " + zmq_.why());
}

void MessageSocket::connect(const std::string& address) {
  if (has_ipv6(address)) set(ZMQ_IPV6, 1);
  if (zmq_.connect(socket_, address.c_str()) != 0)
    throw ResourceError("cannot connect to " + address + ": " + zmq_.why());
}

std::string MessageSocket::bound_address() const {
  std::array<char, 512> text{};
  size_t size = text.size();
  zmq_.get_option(socket_, ZMQ_LAST_ENDPOINT, text.data(), &size);
  return text.data();
}

void MessageSocket::watch_connections() {
  const std::string name = "inproc://events-" + std::to_string(reinterpret_cast<uintptr_t>(socket_));
  zmq_.monitor(socket_, name.c_str(), ZMQ_EVENT_ALL);
  events_ = zmq_.socket(context_->get(), ZMQ_PAIR);
  if (events_ == nullptr || zmq_.connect(events_, name.c_str()) != 0)
    throw ResourceError("libzmq cannot watch a socket: " + zmq_.why());
}

std::optional<int> MessageSocket::next_event() {
  MessageFrame first;
  if (zmq_.message_receive(&first.message(), events_, ZMQ_DONTWAIT) < 0) return std::nullopt;
  uint16_t event = 0;
  if (first.bytes().size() >= sizeof event) std::memcpy(&event, first.bytes().data(), sizeof event);
  MessageFrame address;
  zmq_.message_receive(&address.message(), events_, 0);
  return event;
}

bool MessageSocket::send(MessageFrames frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    while (zmq_.message_send(&frames[i].message(), socket_, ZMQ_DONTWAIT | more) < 0)
      if (zmq_.error() != EINTR) return false;
  }
  return true;
}

std::optional<MessageFrames> MessageSocket::receive() {
  MessageFrames frames;
  do {
    MessageFrame& frame = frames.emplace_back();
    const int flags = frames.size() == 1 ? ZMQ_DONTWAIT : 0;  // a message is there completely or not at all
    int got = 0;
    do {
      got = zmq_.message_receive(&frame.message(), socket_, flags);
    } while (got < 0 && zmq_.error() == EINTR);
    if (got < 0) return std::nullopt;
  } while (zmq_.message_more(&frames.back().message()) != 0);
  return frames;
}

std::string message_address(const std::string& text) {
  const bool is_port =
      !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos;
  if (is_port) return "tcp://127.0.0.1:" + text;
  if (text.starts_with("tcp://") && text.rfind(':') > std::strlen("tcp:/")) return text;
  if (text.starts_with("ipc://") && text.size() > std::strlen("ipc://")) return text;
  throw ConfigError("'" + text +
                    "' is not an address; write tcp://HOST:PORT, ipc://FILE, or a port of this machine");
}

bool is_local_address(const std::string& address) {
  for (const char* local : {"ipc://", "tcp://127.", "tcp://localhost:", "tcp://[::1]:"})
    if (address.starts_with(local)) return true;
  return false;
}

}  // namespace tpack
