#include "remote/server_link.h"

#include <algorithm>
#include <array>

#include "core/clock.h"
#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/read_stop.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr int64_t kMostFrameBytes = int64_t{4} << 30U;

int64_t bytes_of_item(const RemoteItem& item) {
  int64_t bytes = std::ssize(item.values.bytes());
  for (const MessageFrame& part : item.parts) bytes += std::ssize(part.bytes());
  return bytes;
}

}  // namespace

ServerLink::ServerLink(const std::shared_ptr<MessageContext>& context, std::string address,
                       LinkSettings settings)
    : address_(std::move(address)), settings_(std::move(settings)), socket_(context, ZMQ_DEALER) {
  socket_.set(ZMQ_RCVHWM, 0);  // what is asked for is the limit
  socket_.set_most_bytes(kMostFrameBytes);
  if (!settings_.server_key.empty()) {
    const CurveKeys own = CurveKeys::make();
    socket_.set_text(ZMQ_CURVE_SERVERKEY, settings_.server_key);
    socket_.set_text(ZMQ_CURVE_PUBLICKEY, own.public_key);
    socket_.set_text(ZMQ_CURVE_SECRETKEY, own.secret_key);
  }
  socket_.watch_connections();
  away_since_s_ = monotonic_s();
  socket_.connect(address_);
}

ServerLink::~ServerLink() {
  if (!was_connected_ || away_since_s_) return;
  try {
    MessageFrames bye;
    bye.emplace_back(RemoteRequest{}.str());
    socket_.send(std::move(bye));
  } catch (const std::exception&) {  // no memory: the server finds out that the client is gone
    return;
  }
}

void ServerLink::ask(const RemoteHello& hello, const RemoteSpec& known) {
  spec_ = known;
  ask(hello);
}

void ServerLink::ask(const RemoteHello& hello) {
  hello_ = hello;
  if (was_connected_ && !away_since_s_) send_hello();
}

void ServerLink::send_hello() {
  ++hello_.attempt;
  hello_.credit = std::max(settings_.memory_bytes - queued_bytes_, int64_t{0});
  used_bytes_ = 0;
  MessageFrames frames;
  frames.emplace_back(RemoteRequest{.kind = RemoteRequest::Kind::kHello, .hello = hello_}.str());
  socket_.send(std::move(frames));
}

void ServerLink::take_events() {
  constexpr int kHandshakeFailed = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  while (const auto event = socket_.next_event()) {
    if (*event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      take_messages();  // those before the connection was lost
      if (was_connected_) log::info(address_ + " is back");
      was_connected_ = true;
      away_since_s_.reset();
      failed_handshakes_ = 0;
      if (!has_ended_) send_hello();
    } else if (*event == ZMQ_EVENT_DISCONNECTED && was_connected_ && !away_since_s_ && !has_ended_) {
      away_since_s_ = monotonic_s();
      if (why_away_.empty()) why_away_ = "the connection was lost";
      if (settings_.reconnect_s > 0)
        log::warning(address_ + ": " + why_away_ + "; waiting up to " + shortest(settings_.reconnect_s) +
                     " s for the server");
    } else if ((*event & kHandshakeFailed) != 0) {
      ++failed_handshakes_;
    }
  }
}

void ServerLink::take_messages() {
  while (auto frames = socket_.receive()) take(std::move(*frames));
}

void ServerLink::take(MessageFrames frames) {
  RemoteAnswer answer;
  try {
    answer = RemoteAnswer::parse(frames[0].text());
  } catch (const DataError& error) {
    throw failed(std::string("is not a server of `tpack data serve`: ") + error.what());
  }
  const bool is_current = answer.attempt == hello_.attempt;
  switch (answer.kind) {
    case RemoteAnswer::Kind::kSpec:
      if (spec_ && spec_->str() != answer.spec.str())
        throw failed("serves other data than before: " + answer.spec.str() + "; they were " + spec_->str());
      spec_ = std::move(answer.spec);
      why_away_.clear();
      break;
    case RemoteAnswer::Kind::kItem:
      if (is_current && frames.size() >= 2 && !has_ended_) {
        RemoteItem item{
            .first = answer.first, .samples = answer.samples, .values = std::move(frames[1]), .parts = {}};
        for (size_t i = 2; i < frames.size(); ++i) item.parts.push_back(std::move(frames[i]));
        item.used = std::max(hello_.index - item.first, int64_t{0});
        if (item.used >= item.samples) break;
        hello_.index = item.first + item.samples;  // where to go on
        queued_bytes_ += bytes_of_item(item);
        items_.push_back(std::move(item));
      }
      break;
    case RemoteAnswer::Kind::kEnd:
      has_ended_ = has_ended_ || is_current;
      break;
    case RemoteAnswer::Kind::kError:
      if (is_current) failure_ = answer.text;
      break;
    case RemoteAnswer::Kind::kRefused:
      failure_ = "the server refuses: " + answer.text;
      break;
    case RemoteAnswer::Kind::kClosing:
      why_away_ = answer.text;
      break;
    case RemoteAnswer::Kind::kAlive:
      break;
  }
}

void ServerLink::check_contact() {
  constexpr int kMostFailedHandshakes = 3;
  if (!was_connected_ && failed_handshakes_ >= kMostFailedHandshakes)
    throw failed(
        settings_.server_key.empty()
            ? "refuses the connection; if the server has a key, set 'server_key'"
            : "refuses the connection; 'server_key' is not the public key of the server, or it has none");
  if (!away_since_s_) return;
  constexpr double kLeastFirstS = 2;
  const double most_s =
      was_connected_ ? settings_.reconnect_s : std::max(settings_.reconnect_s, kLeastFirstS);
  constexpr double kLongS = 5;
  if (!was_connected_ && !has_said_ && monotonic_s() - *away_since_s_ > kLongS) {
    has_said_ = true;
    log::info("waiting for a server at " + address_);
  }
  if (monotonic_s() - *away_since_s_ <= most_s) return;
  if (!was_connected_)
    throw failed("no server answers within " + shortest(most_s) + " s; start it with `tpack data serve`");
  throw failed(why_away_ +
               (most_s > 0 ? ", and it did not come back within " + shortest(most_s) + " s" : ""));
}

void ServerLink::pump() {
  if (ReadStop::requested()) throw Stopped();
  constexpr long kServerPollMs = 50;
  std::array<zmq_pollitem_t, 2> waits{zmq_pollitem_t{socket_.get(), 0, ZMQ_POLLIN, 0},
                                      zmq_pollitem_t{socket_.events(), 0, ZMQ_POLLIN, 0}};
  MessageLibrary::get().poll(waits.data(), static_cast<int>(waits.size()), kServerPollMs);
  take_messages();
  take_events();
  check_contact();
}

const RemoteSpec& ServerLink::spec() {
  while (!spec_) {
    pump();
    if (!failure_.empty()) throw failed(failure_);
  }
  return *spec_;
}

std::optional<RemoteItem> ServerLink::next() {
  while (items_.empty()) {
    if (!failure_.empty()) throw failed(failure_);
    if (has_ended_) return std::nullopt;
    pump();
  }
  RemoteItem item = std::move(items_.front());
  items_.pop_front();
  const int64_t bytes = bytes_of_item(item);
  queued_bytes_ -= bytes;
  used_bytes_ += bytes;
  if (used_bytes_ >= settings_.memory_bytes / 4 && !away_since_s_) {
    MessageFrames frames;
    frames.emplace_back(
        RemoteRequest{.kind = RemoteRequest::Kind::kCredit, .attempt = hello_.attempt, .credit = used_bytes_}
            .str());
    socket_.send(std::move(frames));
    used_bytes_ = 0;
  }
  return item;
}

}  // namespace tpack
