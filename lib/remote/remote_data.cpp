#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "remote/sample_frame.h"
#include "remote/server_link.h"
#include "remote/tensorpack_feed.h"

namespace tpack {
namespace {

enum class RemoteFormat : uint8_t { kTpack, kTensorpack };
enum class RemoteResume : uint8_t { kExact, kInexact };

}  // namespace

template <>
struct EnumNames<RemoteFormat> {
  static constexpr std::array<std::pair<const char*, RemoteFormat>, 2> kNames = {
      {{"tpack", RemoteFormat::kTpack}, {"tensorpack", RemoteFormat::kTensorpack}}};
};

template <>
struct EnumNames<RemoteResume> {
  static constexpr std::array<std::pair<const char*, RemoteResume>, 2> kNames = {
      {{"exact", RemoteResume::kExact}, {"inexact", RemoteResume::kInexact}}};
};

namespace {

struct RemoteDataParams {
  std::vector<std::string> connect;
  RemoteFormat format = RemoteFormat::kTpack;
  std::string bind;
  std::string server_key;
  std::string share;
  double reconnect_s = 30;
  double memory_mb = 64;
  RemoteResume resume = RemoteResume::kExact;
  std::vector<ComponentOfField> components;
  std::optional<int64_t> size;
};

/// Copies rows of an item into samples.
class ItemRows {
 public:
  /// Errors: DataError if it does not fit the spec.
  ItemRows(RemoteItem item, const RemoteSpec& spec)
      : item_(std::move(item)), spec_(spec), frame_(item_.values.text()), row_(item_.used) {
    std::vector<std::span<const uint8_t>> parts;
    for (const MessageFrame& part : item_.parts) parts.push_back(part.bytes());
    frame_.add_to(fields_, parts);
    for (const ComponentSpec& one : spec_.samples) values_.push_back(checked(one));
  }
  ItemRows(const ItemRows&) = delete;
  ItemRows& operator=(const ItemRows&) = delete;

  int64_t left() const { return item_.samples - row_; }
  void skip(int64_t rows) { row_ += rows; }
  void next(Datapoint& out) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const RecordValue& value = *values_[i];
      const ComponentSpec& one = spec_.samples[i];
      if (value.kind == RecordValue::Kind::kBytes) {
        Image& image = out.renew_image(i);
        std::ranges::copy(value.bytes, image.encoded_buffer(value.bytes.size()).begin());
        image.header_known({.color = color_of(one.tensor.shape[2] / one.frames),
                            .depth = one.depth,
                            .frames = one.frames,
                            .background = one.background,
                            .upright = one.upright});
        continue;
      }
      const Tensor& to = out.renew(i, {one.tensor.dtype, row_shape(value)});
      if (to.bytes() > 0)
        std::memcpy(to.raw(), value.bytes.data() + static_cast<size_t>(row_) * to.bytes(), to.bytes());
    }
    ++row_;
  }

 private:
  Shape row_shape(const RecordValue& value) const {
    const auto sizes = value.shape.sizes();
    return Shape(std::vector<int64_t>(sizes.begin() + (spec_.batch > 0 ? 1 : 0), sizes.end()));
  }
  const RecordValue* checked(const ComponentSpec& one) const {
    const RecordValue* const value = fields_.find(one.name);
    if (value == nullptr) throw DataError("an item has no component '" + one.name + "'");
    if (value->kind == RecordValue::Kind::kBytes && one.is_image && spec_.batch == 0) return value;
    bool fits = value->kind == RecordValue::Kind::kArray && value->type->name == name_of(one.tensor.dtype);
    fits = fits && (spec_.batch == 0 || (value->shape.rank() > 0 && value->shape[0] == item_.samples));
    if (fits) {
      const Shape row = row_shape(*value);
      fits = row.rank() == one.tensor.shape.rank();
      for (int axis = 0; fits && axis < static_cast<int>(row.rank()); ++axis)
        fits = one.tensor.shape[axis] == Shape::kUnknown || one.tensor.shape[axis] == row[axis];
    }
    if (!fits)
      throw DataError("component '" + one.name + "' is " + value->describe() + "; the server declared " +
                      one.tensor.str());
    return value;
  }

  RemoteItem item_;
  const RemoteSpec& spec_;
  SampleFrame frame_;
  RecordFields fields_;
  std::vector<const RecordValue*> values_;
  int64_t row_;
};

/// Reads flows that other machines serve.
class RemoteData final : public SequentialSource, public SourceFiles {
 public:
  using Params = RemoteDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads a flow that `tpack data serve` serves on this or other machines, over ZeroMQ. With "
               "several servers, item n comes from server n modulo their number. Batches travel as one "
               "message and are samples here: add BatchData.")
        .example("RemoteData: {connect: [tcp://127.0.0.1:9000]}")
        .field("connect", &Params::connect, "the addresses of the servers, tcp://HOST:PORT or ipc://FILE")
        .shorthand()
        .field(
            "format", &Params::format,
            "tensorpack: messages of tensorpack's send_dataflow_zmq, with pickles, of which nothing is run, "
            "or MessagePack; such a flow never ends")
        .field("bind", &Params::bind,
               "for tensorpack: the address where senders connect to, in place of 'connect'")
        .field("server_key", &Params::server_key,
               "the public key of the servers, as `tpack data keys` prints it: encrypts, and refuses other "
               "servers")
        .field("share", &Params::share,
               "a word: clients with the same one divide each pass among them. Default: this client gets all")
        .field(
            "reconnect_s", &Params::reconnect_s, at_least(0),
            "how many seconds a server may be away before the run ends; for tensorpack: how long no sample "
            "may come")
        .field("memory_mb", &Params::memory_mb, between(1, 1e6),
               "megabytes of samples from each server that wait here")
        .field(
            "resume", &Params::resume,
            "inexact: if 'share' or tensorpack would not allow it, a resumed run goes on with other samples")
        .field("components", &Params::components, "for tensorpack: values by component, as for LMDBData")
        .field("size", &Params::size, at_least(1), "for tensorpack: samples of a pass. Default: no end");
  }
  explicit RemoteData(Params p) : p_(std::move(p)) {
    if (is_tpack() && (!p_.bind.empty() || !p_.components.empty() || p_.size))
      throw ConfigError("RemoteData: 'bind', 'components' and 'size' are for format: tensorpack");
    if (!is_tpack() && (!p_.server_key.empty() || !p_.share.empty()))
      throw ConfigError("RemoteData: 'server_key' and 'share' are not for format: tensorpack");
    if (p_.connect.empty() == p_.bind.empty())
      throw ConfigError(is_tpack() ? "RemoteData: 'connect' has no address, such as tcp://127.0.0.1:9000"
                                   : "RemoteData: set either 'connect' or 'bind'");
    constexpr size_t kMostServers = 64;
    if (p_.connect.size() > kMostServers)
      throw ConfigError("RemoteData: 'connect' has more than 64 addresses");
    for (std::string& address : p_.connect) address = message_address(address);
    if (!p_.server_key.empty() && p_.server_key.size() != CurveKeys::kCharacters)
      throw ConfigError("RemoteData: 'server_key' is not a public key, which has 40 characters");
    link_ = {p_.server_key, p_.reconnect_s, static_cast<int64_t>(p_.memory_mb * 1e6)};
  }

  bool knows_spec() const override { return false; }
  bool come_from_outside() const override { return true; }
  Spec spec() const override { return is_tpack() ? spec_.samples : components_.spec(); }
  std::optional<int64_t> size() const override {
    if (!is_tpack()) return p_.size.value_or(kEndless);
    if (spec_.is_endless) return kEndless;
    return p_.connect.size() == 1 && p_.share.empty() ? spec_.samples_of_pass : std::nullopt;
  }
  SourceFacts facts() const override {
    SourceFacts facts{.samples = size()};
    facts.remarks.push_back("samples come from " + (p_.bind.empty() ? join(p_.connect, ", ") : p_.bind));
    return facts;
  }
  Seek seek() const override {
    if (is_tpack() && p_.share.empty()) return spec_.seek;
    return p_.resume == RemoteResume::kInexact ? Seek::kExact : Seek::kNone;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t /*stage*/) const override {
    auto self = std::static_pointer_cast<const RemoteData>(shared_from_this());
    if (is_tpack()) return std::make_unique<LinkReader>(std::move(self), pass);
    return std::make_unique<FeedReader>(std::move(self));
  }

 protected:
  void prepare() override {
    if (!is_tpack()) {
      if (feed_ == nullptr) feed_ = std::make_shared<TensorpackFeed>(p_.connect, p_.bind, p_.reconnect_s);
      components_ = feed_->learn(p_.components);
      return;
    }
    context_ = std::make_shared<MessageContext>();
    std::vector<RemoteSpec> specs;
    for (const std::string& address : p_.connect) {
      ServerLink link(context_, address, link_);
      link.ask({.reads = false});
      specs.push_back(link.spec());
      const RemoteSpec& first = specs[0];
      if (specs.back().samples.str() != first.samples.str() || specs.back().batch != first.batch)
        throw DataError(address, "serves " + specs.back().samples.str() + " in batches of " +
                                     std::to_string(specs.back().per_item()) + "; " + p_.connect[0] +
                                     " serves " + first.samples.str() + " in batches of " +
                                     std::to_string(first.per_item()));
    }
    spec_ = specs[0];
    fewest_items_ = specs[0].items;
    for (const RemoteSpec& one : specs) {
      spec_.seek = std::max(spec_.seek, one.seek);
      spec_.is_endless = spec_.is_endless || one.is_endless;
      fewest_items_ =
          one.items && fewest_items_ ? std::optional(std::min(*one.items, *fewest_items_)) : std::nullopt;
    }
    specs_ = std::move(specs);
  }

 private:
  /// A pass of all servers.
  class LinkReader final : public Cursor {
   public:
    LinkReader(std::shared_ptr<const RemoteData> source, const PassKey& pass)
        : source_(std::move(source)), pass_(pass) {}

    bool next(Datapoint& out) override {
      if (!has_rows()) return false;
      rows_->next(out);
      return true;
    }
    int64_t skip(int64_t count) override {
      if (source_->seek() == Seek::kExact && !source_->p_.share.empty()) return count;  // inexact
      int64_t skipped = links_.empty() ? skip_at_start(count) : 0;
      while (skipped < count && has_rows()) {
        const int64_t here = std::min(count - skipped, rows_->left());
        rows_->skip(here);
        skipped += here;
      }
      return skipped;
    }

   private:
    /// Servers begin at the place, if it is known which items each has sent before.
    int64_t skip_at_start(int64_t count) {
      const RemoteSpec& spec = source_->spec_;
      const auto servers = static_cast<int64_t>(source_->p_.connect.size());
      const auto all = source_->size();
      if (servers == 1 && all) {
        const int64_t skipped = std::min(count, *all - begin_);
        begin_ += skipped;
        return skipped;
      }
      const int64_t rounds = (begin_ + count) / spec.per_item() / servers;
      const bool all_have_these =
          spec.is_endless || (source_->fewest_items_ && rounds + 1 < *source_->fewest_items_);
      if (!all_have_these) return 0;
      begin_ += count;
      return count;
    }
    void open_links() {
      const RemoteData& source = *source_;
      const auto servers = static_cast<int64_t>(source.p_.connect.size());
      const int64_t per_item = source.spec_.per_item();
      const int64_t item = begin_ / per_item;
      for (int64_t k = 0; k < servers; ++k) {
        auto& link = links_.emplace_back(std::make_unique<ServerLink>(
            source.context_, source.p_.connect[static_cast<size_t>(k)], source.link_));
        int64_t index = item > k ? (item - k + servers - 1) / servers * per_item : 0;
        if (k == item % servers) index += begin_ % per_item;
        link->ask({.seed = pass_.seed,
                   .pass = pass_.pass,
                   .repeat = pass_.repeat,
                   .index = index,
                   .group = source.p_.share},
                  source.specs_[static_cast<size_t>(k)]);
      }
      turn_ = static_cast<size_t>(item % servers);
    }
    /// True if there is a next sample.
    bool has_rows() {
      if (links_.empty()) open_links();
      size_t ended = 0;
      while (rows_ == nullptr || rows_->left() == 0) {
        rows_.reset();
        if (ended == links_.size()) return false;
        const size_t from = turn_;
        turn_ = (turn_ + 1) % links_.size();
        auto item = links_[from]->next();
        if (!item) {
          ++ended;
          continue;
        }
        ended = 0;
        try {
          rows_ = std::make_unique<ItemRows>(std::move(*item), source_->spec_);
        } catch (const DataError& error) {
          throw DataError(source_->p_.connect[from], error.what());
        }
      }
      return true;
    }

    std::shared_ptr<const RemoteData> source_;
    PassKey pass_;
    int64_t begin_ = 0;                               // the first sample
    std::vector<std::unique_ptr<ServerLink>> links_;  // empty until the first sample is read
    size_t turn_ = 0;                                 // the server of the next item
    std::unique_ptr<ItemRows> rows_;
  };

  /// A pass of tensorpack's samples.
  class FeedReader final : public Cursor {
   public:
    explicit FeedReader(std::shared_ptr<const RemoteData> source) : source_(std::move(source)) {}
    bool next(Datapoint& out) override {
      if (source_->p_.size == at_) return false;
      source_->feed_->next(fields_);
      ++at_;
      source_->components_.fill(fields_, {}, out);
      return true;
    }
    /// Other samples come, whether these were seen or not.
    int64_t skip(int64_t count) override {
      const int64_t skipped = std::min(count, source_->p_.size.value_or(kEndless) - at_);
      at_ += skipped;
      return skipped;
    }

   private:
    std::shared_ptr<const RemoteData> source_;
    RecordFields fields_;
    int64_t at_ = 0;
  };

  bool is_tpack() const { return p_.format == RemoteFormat::kTpack; }

  Params p_;
  LinkSettings link_;
  std::shared_ptr<MessageContext> context_;
  RemoteSpec spec_;
  std::vector<RemoteSpec> specs_;        // by server
  std::optional<int64_t> fewest_items_;  // of a pass of a server
  std::shared_ptr<TensorpackFeed> feed_;
  RecordComponents components_;
};

TPACK_REGISTER(Source, RemoteData, "RemoteData");

}  // namespace
}  // namespace tpack
