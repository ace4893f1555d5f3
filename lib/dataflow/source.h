#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "dataflow/datapoint.h"
#include "dataflow/flow.h"
#include "dataflow/sample_error.h"
#include "dataflow/source_facts.h"

namespace tpack {

struct FlowField;

/// Where a component is in its flow. The name ("map_data_1": type in snake_case, running number in its
/// list) is part of the key of its random numbers.
struct StageContext {
  std::string name;
  uint64_t key = 0;  // stable_hash(name)
  Position position = {};

  /// Where a sample is in this component.
  SamplePlace place_of(const SampleId& id, const std::string& file = {}) const {
    return {name, id, file, position};
  }
};

/// Builds the flows that a component has as parameters.
class FlowBuilder {
 public:
  virtual ~FlowBuilder() = default;
  /// A nested list, or the flow that the field names. Null after reporting. `part` tells the flows of one
  /// component apart, so that their random numbers differ.
  virtual FlowPtr build(const FlowField& field, const std::string& part) = 0;
};

/// The beginning of a flow. Derive from RandomAccessSource or SequentialSource; directly only for sources
/// that are made of other flows.
class Source : public std::enable_shared_from_this<Source> {
 public:
  static constexpr const char* kKind = "source";

  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// The flow of this source's samples, which keeps the source alive. Null after the builder reported, and
  /// where a flow inside is not known yet.
  virtual FlowPtr flow(const StageContext& context, FlowBuilder& builder) = 0;
  /// False where only the opened data tell what components there are, or of what types and ranks (arrays in a
  /// file, say). Flows of such a source are put together when they are prepared, and the source is opened
  /// before `flow` is called.
  virtual bool knows_spec() const { return true; }
  /// Prepares the source once; again where that threw. Threads: any number at once.
  void prepare_once();

  /// What there is to read, for people. After `prepare`.
  virtual SourceFacts facts() const { return {}; }
  /// A text that changes when the files that it reads change: made from names, sizes and dates,
  /// without opening them. Empty if nothing is read, or nothing is known of it. After `prepare`.
  virtual std::string fingerprint() const { return {}; }

 protected:
  /// Opens files and checks what can be checked. Errors: as Flow::prepare.
  virtual void prepare() {}

 private:
  std::mutex opening_;
  bool open_ = false;
};

/// Data that can be read at any index: arrays, files in a folder, images that are computed.
class RandomAccessSource : public Source {
 public:
  FlowPtr flow(const StageContext& context, FlowBuilder& builder) final;
  SourceFacts facts() const override { return {.samples = size()}; }

  /// Known before `prepare`, but for the class names; where `knows_spec` is false, after it.
  virtual Spec spec() const = 0;
  /// As Flow::size.
  virtual int64_t size() const = 0;
  /// True: each pass is in an order of its own (a permutation keyed by seed, pass and stage).
  virtual bool shuffled() const { return false; }
  /// The file that a sample is read from; empty where it has none of its own. Errors name it.
  virtual std::string file_of(int64_t index) const {
    (void)index;
    return {};
  }
  /// Fills the components of `out`, which has as many as spec(). Threads: any number at once.
  /// Errors: DataError for a sample that is bad.
  virtual void get(int64_t index, const SampleKey& key, Datapoint& out) const = 0;
};

/// Data that can only be read from the beginning.
class SequentialSource : public Source {
 public:
  FlowPtr flow(const StageContext& context, FlowBuilder& builder) final;
  SourceFacts facts() const override { return {.samples = size()}; }

  /// As RandomAccessSource::spec.
  virtual Spec spec() const = 0;
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  virtual Seek seek() const { return Seek::kReplayReads; }
  /// Reads one pass; `stage` keys its random choices. The cursor sets the id of each sample's components'
  /// index.
  virtual std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t stage) const = 0;
};

}  // namespace tpack
