#include "remote/flow_server.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr int64_t kMostRequestBytes = 4096;
constexpr size_t kMostClients = 64;
constexpr int64_t kMostReplayed = 10'000'000;  // samples for one client

}  // namespace

/// An item of a flow, ready to be sent: memory of the flow that is sent without a copy.
struct FlowServer::ReadyItem {
  int64_t first = 0;
  int64_t samples = 0;
  int64_t bytes = 0;
  MessageFrames frames;  // all but the first one
};

FlowServer::ReadyItem FlowServer::ready_item(Batch got, const Spec& spec, int64_t first) {
  constexpr size_t kCopied = 1024;  // bytes for which an owner costs more than a copy
  ReadyItem item{.first = first, .samples = got.samples(), .frames = {}};
  auto values = nlohmann::ordered_json::object();
  MessageFrames parts;
  const auto batch = std::make_shared<Batch>(std::move(got));
  const auto add = [&](std::span<const std::byte> bytes) {
    item.bytes += std::ssize(bytes);
    if (bytes.size() <= kCopied) {
      parts.emplace_back(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } else {
      parts.emplace_back(bytes, batch);
    }
  };
  for (size_t i = 0; i < spec.size(); ++i) {
    Datapoint& d = batch->datapoint();
    if (d.is_image(i) && d.image(i).encoded()) {
      const auto bytes = d.image(i).encoded_bytes();
      values[spec[i].name]["bytes"] = bytes.size();
      add(std::as_bytes(bytes));
      continue;
    }
    const Tensor& tensor = d.to_tensor(i);
    auto& value = values[spec[i].name];
    value["dtype"] = name_of(tensor.dtype());
    value["shape"] = tensor.shape().sizes();
    add({tensor.raw(), tensor.bytes()});
  }
  item.frames.emplace_back(values.dump());
  for (MessageFrame& part : parts) item.frames.push_back(std::move(part));
  item.bytes += std::ssize(item.frames[0].bytes());
  return item;
}

/// One pass, which a thread reads ahead of its clients.
class FlowServer::ServedPass {
 public:
  ServedPass(const FlowServer& server, const RemoteHello& hello)
      : spec_(server.spec_.samples), per_item_(server.spec_.per_item()), wake_(server.wake_) {
    constexpr int64_t kRepeats = 1'000'003;  // passes of one seed that are not those of a repetition
    const int64_t item = hello.index / per_item_;
    const ServerSettings& settings = server.settings_;
    const auto items = server.flow_.finite_size();
    has_ended_ = items && item > (*items - 1 - settings.part) / settings.parts;
    if (has_ended_ || (items && *items <= settings.part)) {
      has_ended_ = true;
      return;
    }
    stream_ = server.flow_.stream({.seed = hello.seed,
                                   .shard = settings.part,
                                   .shard_count = settings.parts,
                                   .position = {hello.pass + kRepeats * hello.repeat, item * settings.parts},
                                   .passes = 1});
    next_ = item * per_item_;
    reader_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
  }

  /// The next item, if one is ready.
  std::optional<ReadyItem> take() {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return std::nullopt;
    ReadyItem item = std::move(ready_.front());
    ready_.pop_front();
    taken_.notify_one();
    return item;
  }
  /// True if all items were taken.
  bool has_ended() const {
    const std::lock_guard lock(mutex_);
    return has_ended_ && ready_.empty();
  }
  /// Why it ended early; empty if it did not.
  std::string error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  static constexpr size_t kMostReady = 64;  // those that are not copied hold slots of the stream

  void read(const std::stop_token& stop) {
    std::string error;
    try {
      while (auto batch = stream_->next(stop)) {
        const int64_t samples = batch->samples();
        ReadyItem item = ready_item(std::move(*batch), spec_, next_);
        next_ += samples;
        std::unique_lock lock(mutex_);
        if (!taken_.wait(lock, stop, [this] { return ready_.size() < kMostReady; })) return;
        ready_.push_back(std::move(item));
        lock.unlock();
        wake();
      }
    } catch (const Stopped&) {
      return;
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    {
      const std::lock_guard lock(mutex_);
      error_ = error;
      has_ended_ = true;
    }
    wake();
  }
  void wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  }

  const Spec& spec_;
  const int64_t per_item_;
  const int wake_;
  std::unique_ptr<Stream> stream_;
  int64_t next_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any taken_;
  std::deque<ReadyItem> ready_;
  bool has_ended_ = false;
  std::string error_;
  std::jthread reader_;  // last: joined first
};

FlowServer::FlowServer(DataFlow flow, ServerSettings settings)
    : flow_(std::move(flow)), settings_(std::move(settings)), socket_(context_, ZMQ_ROUTER) {
  flow_.prepare();
  std::vector<ComponentSpec> components(flow_.spec().begin(), flow_.spec().end());
  if (const auto batching = flow_.batching()) {
    spec_.batch = batching->batch_size;
    for (ComponentSpec& one : components) {
      const auto sizes = one.tensor.shape.sizes();
      one.tensor.shape = Shape(std::vector<int64_t>(sizes.begin() + 1, sizes.end()));
    }
  }
  spec_.samples = Spec(std::move(components));
  spec_.seek = flow_.seek();
  spec_.is_endless = flow_.size() == kEndless;
  if (const auto items = flow_.finite_size()) {
    spec_.items = (*items - settings_.part + settings_.parts - 1) / settings_.parts;
    const auto batching = flow_.batching();
    if (settings_.parts == 1 || !batching || batching->remainder() == 0)
      spec_.samples_of_pass = batching && settings_.parts == 1 && batching->remainder() > 0
                                  ? (*items - 1) * spec_.batch + batching->remainder()
                                  : *spec_.items * spec_.per_item();
  }
  socket_.set(ZMQ_ROUTER_MANDATORY, 1);
  socket_.set(ZMQ_SNDHWM, 0);  // the credit of clients is the limit
  socket_.set_most_bytes(kMostRequestBytes);
  if (!settings_.secret_key.empty()) {
    socket_.set(ZMQ_CURVE_SERVER, 1);
    socket_.set_text(ZMQ_CURVE_SECRETKEY, settings_.secret_key);
  }
  for (const std::string& address : settings_.addresses) {
    socket_.bind(address);
    bound_.push_back(socket_.bound_address());
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FlowServer::~FlowServer() {
  shared_.clear();
  clients_.clear();  // ends the threads that write to the event
  ::close(wake_);
}

bool FlowServer::answer(const std::string& client, const RemoteAnswer& answer) {
  MessageFrames frames;
  frames.emplace_back(client);
  frames.emplace_back(answer.str());
  return socket_.send(std::move(frames));
}

void FlowServer::take(MessageFrames request) {
  const std::string client(request[0].text());
  try {
    if (request.size() != 2) throw DataError("a request has one frame");
    const RemoteRequest parsed = RemoteRequest::parse(request[1].text());
    const auto known = clients_.find(client);
    switch (parsed.kind) {
      case RemoteRequest::Kind::kHello:
        return begin(client, parsed.hello);
      case RemoteRequest::Kind::kCredit:
        if (known != clients_.end() && known->second.attempt == parsed.attempt)
          known->second.credit = std::min(known->second.credit + parsed.credit, int64_t{1} << 40U);
        return;
      case RemoteRequest::Kind::kBye:
        if (known != clients_.end()) clients_.erase(known);
        return;
    }
  } catch (const Error& error) {
    clients_.erase(client);
    constexpr double kQuietS = 10;  // strangers must not fill the log
    if (monotonic_s() - refused_s_ > kQuietS) log::warning(std::string("refused a client: ") + error.what());
    refused_s_ = monotonic_s();
    answer(client, {.kind = RemoteAnswer::Kind::kRefused, .text = error.what()});
  }
}

void FlowServer::check_index(int64_t index) const {
  const auto most = spec_.items ? std::optional(*spec_.items * spec_.per_item()) : std::nullopt;
  if (most && index > *most)
    throw DataError("a client asks for sample " + with_thousands(index) + ", but a pass has " +
                    with_thousands(*most) + " samples; the client may have another version of the data");
  if (spec_.is_endless && spec_.seek != Seek::kExact && index > kMostReplayed)
    throw DataError("a client asks for sample " + with_thousands(index) +
                    " of a flow that never ends and is read from its beginning; at most " +
                    with_thousands(kMostReplayed) +
                    " samples are read again; serve a flow that ends, and add RepeatedData at the client");
}

void FlowServer::begin(const std::string& client, const RemoteHello& hello) {
  clients_.erase(client);  // before a new pass begins, which needs the threads
  if (hello.reads) check_index(hello.index);
  if (!answer(client, {.kind = RemoteAnswer::Kind::kSpec, .spec = spec_}) || !hello.reads) return;
  drop_vanished();
  if (clients_.size() >= kMostClients)
    throw DataError("the server has " + std::to_string(kMostClients) + " clients already");
  clients_[client] = {pass_for(hello), hello.attempt, hello.credit};
}

std::shared_ptr<FlowServer::ServedPass> FlowServer::pass_for(const RemoteHello& hello) {
  if (hello.group.empty()) return std::make_shared<ServedPass>(*this, hello);
  constexpr size_t kMostOpen = 4;
  constexpr size_t kMostRemembered = 10'000;
  const std::string key = std::to_string(hello.seed) + " " + std::to_string(hello.pass) + " " +
                          std::to_string(hello.repeat) + " " + hello.group;
  const auto is_wanted = [&](const SharedPass& one) { return one.key == key; };
  for (SharedPass& one : shared_)
    if (one.pass != nullptr && one.pass->has_ended()) one.pass.reset();
  if (const auto known = std::ranges::find_if(shared_, is_wanted); known != shared_.end()) return known->pass;
  const auto is_open = [](const SharedPass& one) { return one.pass != nullptr; };
  if (static_cast<size_t>(std::ranges::count_if(shared_, is_open)) >= kMostOpen)
    std::ranges::find_if(shared_, is_open)->pass.reset();
  if (shared_.size() >= kMostRemembered) shared_.pop_front();
  return shared_.emplace_back(SharedPass{key, std::make_shared<ServedPass>(*this, hello)}).pass;
}

/// True if something was sent.
bool FlowServer::serve(const std::string& name, Client& client) {
  if (client.has_ended || client.credit <= 0) return false;
  if (auto item = client.pass == nullptr ? std::nullopt : client.pass->take()) {
    client.credit -= item->bytes;
    MessageFrames frames;
    frames.emplace_back(name);
    frames.emplace_back(RemoteAnswer{.kind = RemoteAnswer::Kind::kItem,
                                     .attempt = client.attempt,
                                     .first = item->first,
                                     .samples = item->samples}
                            .str());
    for (MessageFrame& frame : item->frames) frames.push_back(std::move(frame));
    if (socket_.send(std::move(frames))) samples_sent_ += item->samples;
    return true;
  }
  if (client.pass != nullptr && !client.pass->has_ended()) return false;
  client.has_ended = true;
  const std::string error = client.pass == nullptr ? "" : client.pass->error();
  answer(name, {.kind = error.empty() ? RemoteAnswer::Kind::kEnd : RemoteAnswer::Kind::kError,
                .attempt = client.attempt,
                .text = error});
  return true;
}

/// Sending to a client whose connection is closed fails.
void FlowServer::drop_vanished() {
  std::erase_if(clients_, [this](const auto& entry) {
    const bool is_there = answer(entry.first, {.kind = RemoteAnswer::Kind::kAlive});
    if (!is_there) log::info("a client has gone");
    return !is_there;
  });
}

void FlowServer::report(double seconds) {
  const int64_t sent = samples_sent_ - reported_;
  reported_ = samples_sent_;
  if (sent == 0) return;
  log::info(with_thousands(static_cast<int64_t>(static_cast<double>(sent) / seconds)) + " samples/s to " +
            std::to_string(clients_.size()) + (clients_.size() == 1 ? " client, " : " clients, ") +
            with_thousands(samples_sent_) + " samples in all");
}

void FlowServer::run(const std::stop_token& stop) {
  constexpr long kPollMs = 100;
  constexpr double kCheckS = 5;
  constexpr double kReportS = 30;
  double checked_s = monotonic_s();
  double reported_s = checked_s;
  std::array<zmq_pollitem_t, 2> waits{zmq_pollitem_t{socket_.get(), 0, ZMQ_POLLIN, 0},
                                      zmq_pollitem_t{nullptr, wake_, ZMQ_POLLIN, 0}};
  while (!stop.stop_requested()) {
    MessageLibrary::get().poll(waits.data(), static_cast<int>(waits.size()), kPollMs);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_, &count, sizeof count);
    constexpr int kMostRequests = 100;  // before clients get their items
    for (int i = 0; i < kMostRequests; ++i) {
      auto request = socket_.receive();
      if (!request) break;
      take(std::move(*request));
    }
    for (bool is_busy = true; is_busy && !stop.stop_requested();) {
      is_busy = false;
      for (auto& [name, client] : clients_) is_busy = serve(name, client) || is_busy;
    }
    const double now_s = monotonic_s();
    if (now_s - checked_s > kCheckS) {
      drop_vanished();
      checked_s = now_s;
    }
    if (now_s - reported_s > kReportS) {
      report(now_s - reported_s);
      reported_s = now_s;
    }
  }
  for (const auto& [name, client] : clients_)
    answer(name, {.kind = RemoteAnswer::Kind::kClosing, .text = "the server was stopped"});
  clients_.clear();
  shared_.clear();
}

}  // namespace tpack
