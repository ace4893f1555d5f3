#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/part.h"
#include "dataflow/datapoint.h"
#include "dataflow/flow.h"
#include "dataflow/sample_error.h"
#include "dataflow/source_facts.h"
#include "dataflow/source_parts.h"

namespace tpack {

class Fit;
struct FlowField;

/// The context of a component in its flow. The name ("map_data_1": type in snake_case, running number in its
/// list) is part of the key of its random numbers.
struct StageContext {
  std::string name;
  uint64_t key = 0;  // stable_hash(name)
  Position position = {};
  /// Sources, joins and stages must not shuffle: inside a JoinData, which defines the order, and for
  /// predictions.
  bool keeps_order = false;
  /// The components before it in its list, with all of their parameters, as text.
  std::string before = {};

  /// The key of a sample in this component.
  SamplePlace place_of(const SampleId& id, const std::string& file = {}) const {
    return {name, id, file, position};
  }
};

/// The order of the samples of flows that a component has as parameters.
enum class PartOrder : uint8_t {
  kOfOwner,  // the component defines one order for all of them (StageContext::keeps_order)
  kOwn       // each has its own, and may shuffle and drop samples
};

/// Builds the flows that a component has as parameters.
class FlowBuilder {
 public:
  virtual ~FlowBuilder() = default;
  /// A nested list, or the flow with the name in the field. Null after reporting. `part` distinguishes the
  /// flows of one component, so that their random numbers differ.
  virtual FlowPtr build(const FlowField& field, const std::string& part, PartOrder order) = 0;
};

/// The start of a flow. Derive from RandomAccessSource or SequentialSource, and from parts for everything
/// else that the source has (files, classes, the rows of a table; source_parts.h): `class Npz : public
/// RandomAccessSource, public SourceFiles`. Derive from Source directly only for sources that are made of
/// other flows.
class Source : public std::enable_shared_from_this<Source>, public HasParts<Source> {
 public:
  static constexpr const char* kKind = "source";

  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Sets the learned values of data.train, and the name of this source in its flow. Call first.
  void follow(std::shared_ptr<Fit> fit, std::string name);
  /// Uses the same values as another source.
  void follow_as(const Source& other);
  /// The flow of this source's samples, which keeps the source alive. Null after the builder reported an
  /// error, or if an inner flow is not known yet.
  virtual FlowPtr flow(const StageContext& context, FlowBuilder& builder) = 0;
  /// False if the components, or their types and ranks, are known only after opening the data (arrays in a
  /// file, for example). Flows of such a source are put together when they are prepared, and the source is
  /// opened before `flow` is called.
  virtual bool knows_spec() const { return true; }
  /// Prepares the source once; again if that threw. `where` is its position in the config, which is added to
  /// errors without one. Threads: any number at once.
  void prepare_once(const Position& where);
  /// Call at the start of a pass. Errors: DataError if SourceFiles::open_file has changed since `prepare`.
  void check_unchanged() const;

  /// The source that reads the samples: itself, or the source that it streams from, which has the first ones
  /// after `prepare` and can read other files in the same way (reopen_with); null for other sources.
  std::shared_ptr<const RandomAccessSource> indexed() const;

  /// Facts about its data, for users. Call after `prepare`.
  virtual SourceFacts facts() const { return {}; }

 protected:
  /// Opens and checks files. Errors: as for Flow::prepare.
  virtual void prepare() {}
  const std::string& name() const { return name_; }
  /// The learned values of data.train for a component: before it is opened, or after opening it. Nothing if
  /// there are none, or if this source belongs to data.train.
  std::optional<FittedComponent> declared_fit(const std::string& component) const;
  std::optional<FittedComponent> opened_fit(const std::string& component) const;

 private:
  std::shared_ptr<Fit> fit_;  // null: this source learns, or there is no training data
  std::string name_;
  std::mutex opening_;
  bool open_ = false;
  std::string stamp_;  // of open_file
};

/// Data that can be read at any index: arrays, files in a folder, computed images.
class RandomAccessSource : public Source {
 public:
  FlowPtr flow(const StageContext& context, FlowBuilder& builder) final;
  SourceFacts facts() const override { return {.samples = size()}; }

  /// Known before `prepare`, except for the class names; if `knows_spec` is false, after it.
  virtual Spec spec() const = 0;
  /// As Flow::size.
  virtual int64_t size() const = 0;
  /// True: each pass has its own order (a permutation keyed by seed, pass and stage), or the order of the
  /// surrounding JoinData.
  virtual bool shuffled() const { return false; }
  /// If shuffled, samples that lie next to one another and are read one after the other; 1: none, so that
  /// all samples are mixed. After `prepare`.
  virtual int64_t block() const { return 1; }
  /// The position of a sample in its file: the file if it has only one sample, a line ("a.csv:7") or an index
  /// ("a.h5[12]"). Empty if the sample has no file. Used in errors.
  virtual std::string file_of(int64_t index) const {
    (void)index;
    return {};
  }
  /// Fills the components of `out`, which has the number of components of spec(). Threads: any number at
  /// once. Errors: DataError for a bad sample.
  virtual void get(int64_t index, const SampleKey& key, Datapoint& out) const = 0;
};

/// The class of each sample in a component of class numbers; -1 for a bad one. Reads the samples if the
/// source does not know their classes (SampleFacts). After `prepare`.
std::vector<int32_t> class_numbers(const RandomAccessSource& source, const std::string& component);

/// Data that can only be read from the beginning.
class SequentialSource : public Source {
 public:
  FlowPtr flow(const StageContext& context, FlowBuilder& builder) final;
  SourceFacts facts() const override { return {.samples = size()}; }

  /// As RandomAccessSource::spec.
  virtual Spec spec() const = 0;
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  virtual Seek seek() const { return Seek::kReplayReads; }
  /// Reads one pass; `stage` keys its random choices. The cursor sets the index in the ids of each sample's
  /// components.
  virtual std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t stage) const = 0;
};

}  // namespace tpack
