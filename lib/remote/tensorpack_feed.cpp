#include "remote/tensorpack_feed.h"

#include <array>

#include "core/clock.h"
#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "dataflow/read_stop.h"

namespace tpack {

TensorpackFeed::TensorpackFeed(const std::vector<std::string>& connect, const std::string& bind,
                               double patience_s)
    : where_(bind.empty() ? join(connect, ", ") : bind),
      patience_s_(patience_s),
      socket_(std::make_shared<MessageContext>(), ZMQ_PULL) {
  constexpr int kMostMessages = 50;  // as in tensorpack
  constexpr int64_t kMostBytes = int64_t{1} << 30U;
  socket_.set(ZMQ_RCVHWM, kMostMessages);
  socket_.set_most_bytes(kMostBytes);
  if (!bind.empty()) socket_.bind(message_address(bind));
  for (const std::string& address : connect) socket_.connect(message_address(address));
}

std::shared_ptr<MessageFrame> TensorpackFeed::receive() {
  constexpr long kSenderPollMs = 50;
  const double begin_s = monotonic_s();
  std::array<zmq_pollitem_t, 1> waits{zmq_pollitem_t{socket_.get(), 0, ZMQ_POLLIN, 0}};
  while (true) {
    if (ReadStop::requested()) throw Stopped();
    if (auto frames = socket_.receive()) return std::make_shared<MessageFrame>(std::move(frames->front()));
    if (monotonic_s() - begin_s > patience_s_)
      throw DataError(where_, "no sample came within " + shortest(patience_s_) +
                                  " s; does a program run send_dataflow_zmq with this address?");
    MessageLibrary::get().poll(waits.data(), 1, kSenderPollMs);
  }
}

void TensorpackFeed::add(const std::shared_ptr<MessageFrame>& message, RecordFields& fields) {
  fields.keep(message);
  add_stored_record(message->bytes(), form_of_record(message->bytes()), fields);
}

RecordComponents TensorpackFeed::learn(const std::vector<ComponentOfField>& wanted) {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) first_ = receive();
  RecordFields fields;
  try {
    add(first_, fields);
    std::vector<ComponentOfField> all = wanted.empty() ? image_and_label(fields) : wanted;
    if (all.empty())
      throw ConfigError(
          "RemoteData: set 'components', such as {image: 0, label: 1}; a sample has the fields " +
          fields.describe());
    RecordComponents components(std::move(all));
    components.look(fields);
    return components;
  } catch (const DataError& error) {
    throw DataError(where_, error.what());
  }
}

void TensorpackFeed::next(RecordFields& fields) {
  const std::lock_guard lock(mutex_);
  fields.clear();
  const std::shared_ptr<MessageFrame> message =
      first_ != nullptr ? std::exchange(first_, nullptr) : receive();
  add(message, fields);
}

}  // namespace tpack
