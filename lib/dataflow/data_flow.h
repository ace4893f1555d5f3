#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dataflow/bad_samples.h"
#include "dataflow/flow.h"
#include "dataflow/flow_field.h"
#include "dataflow/flow_settings.h"
#include "dataflow/source_facts.h"
#include "dataflow/stream.h"

namespace tpack {

class Fit;

/// One pass, or one reader's share of it.
struct Pass {
  uint64_t seed = 0;
  int64_t pass = 0;
  int64_t shard = 0;  // this reader takes items n with n mod shard_count = shard
  int64_t shard_count = 1;
  int64_t position = 0;  // the first item, counted over all shards
};

/// How a flow makes batches of samples.
struct Batching {
  int64_t batch_size = 0;
  bool keeps_remainder = false;         // a last, smaller batch
  std::optional<int64_t> samples = {};  // of a pass, same as Flow::size; nothing if batches have groups

  /// Samples of the last, smaller batch of a pass; 0 if there is none, or if it is known only after reading.
  int64_t remainder() const {
    const bool known = samples && *samples != kEndless && keeps_remainder;
    return known ? *samples % batch_size : 0;
  }
  /// False if a pass has only the remainder.
  bool has_whole_batch() const { return remainder() == 0 || *samples > batch_size; }
};

/// A complete dataflow of a config, from source to batch: its spec, and two ways to read it. Copies share
/// everything. Threads: all methods may run at once.
///
///   const DataFlow flow = make_flow(node, {});
///   auto stream = flow.stream({.seed = 1, .passes = 1});
///   while (auto batch = stream->next()) use(batch->tensor(0));
class DataFlow {
 public:
  /// A flow, and its components in the order in which they make a sample.
  struct Built {
    FlowPtr flow;
    std::vector<FlowPart> parts = {};
  };

  DataFlow(Built built, FlowSettings settings, std::shared_ptr<BadSamples> bad, Position origin = {});
  /// A flow that is built when it is prepared (see Source::knows_spec).
  DataFlow(std::function<Built()> complete, FlowSettings settings, std::shared_ptr<BadSamples> bad,
           Position origin = {});

  /// Whether the methods below may be called before `prepare`. If not, they throw ConfigError.
  bool knows_spec() const;
  const Spec& spec() const { return flow()->spec(); }
  /// Samples of a full batch; nothing if the items are single samples.
  std::optional<int64_t> batch_size() const;
  /// Nothing if the items are single samples.
  std::optional<Batching> batching() const;
  /// Items (batches) of one pass: kEndless if it never ends, nothing if it is known only after reading.
  std::optional<int64_t> size() const { return flow()->size(); }
  /// Items of one pass if it ends and they are known.
  std::optional<int64_t> finite_size() const {
    const auto items = size();
    return items == kEndless ? std::nullopt : items;
  }
  Seek seek() const { return flow()->seek(); }
  const FlowSettings& settings() const { return settings_; }
  const FlowPtr& flow() const;
  /// Its components, with those of flows inside of others before these.
  const std::vector<FlowPart>& parts() const;
  /// Its position in the config, for messages.
  const Position& origin() const { return origin_; }
  BadSamples& bad_samples() const { return *bad_; }

  /// Opens the data and checks them against the config; the readers below do this too. Errors: DataError,
  /// ConfigError.
  void prepare() const;
  /// Errors: DataError if a file that its passes read has changed since `prepare`; the readers below check
  /// this.
  void check_unchanged() const;
  /// The sources of its items, in the order of the config. They live as long as the flow. Prepares the flow.
  std::vector<const Source*> sources() const;
  /// The facts of each source. Prepares the flow.
  std::vector<SourceFacts> facts() const;
  /// A digest that changes when the files that the sources read change (Source::fingerprint); empty if no
  /// source has one. Prepares the flow.
  std::string fingerprint() const;
  /// Reads one pass in the calling thread. The flow must outlive the cursor.
  std::unique_ptr<Cursor> open(const Pass& pass) const;
  /// Reads passes with worker threads.
  std::unique_ptr<Stream> stream(StreamOptions options) const;

 private:
  /// Shared by copies.
  struct Parts {
    std::mutex completing;
    Built built;  // without a flow until it is completed
    std::function<Built()> complete;
  };

  std::shared_ptr<Parts> parts_ = std::make_shared<Parts>();
  FlowSettings settings_;
  std::shared_ptr<BadSamples> bad_;
  Position origin_;
};

/// Prepares several flows in parallel. Errors: those of `train`, or of the first by name that has one.
void prepare(const std::map<std::string, DataFlow>& flows);

/// The order of samples in a pass: the order of the flow, which may shuffle them, or the order of the data.
enum class SampleOrder : uint8_t { kOfFlow, kOfData };

/// Makes the flow that `node` describes: a list of components, or {flow: [...], workers, prefetch, on_error}.
/// `scope` has the flows that it may refer to by name; `fit` has the values from data.train for its sources
/// (null: none, as for data.train itself). Nothing after reporting to `errors`.
std::optional<DataFlow> make_flow(const ConfigNode& node, const FlowScope& scope, Diagnostics& errors,
                                  const std::shared_ptr<Fit>& fit = nullptr,
                                  SampleOrder order = SampleOrder::kOfFlow);
/// As above. Errors: ConfigError with all problems.
DataFlow make_flow(const ConfigNode& node, const FlowScope& scope = {});

}  // namespace tpack
