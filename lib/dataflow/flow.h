#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/sample_key.h"
#include "dataflow/spec.h"
#include "tensor/state.h"

namespace tpack {

class Datapoint;
class Source;

/// How to reach a place in the middle of a pass.
enum class Seek : uint8_t {
  kExact,        // at once
  kReplayReads,  // by reading everything before it
  kNone          // impossible: a resumed run would see other data
};
const char* name_of(Seek seek);

/// How the items of a pass can be read.
enum class Access : uint8_t {
  kIndexed,    // any place at any time, by any thread
  kFiltered,   // the same, but a place may be empty
  kSequential  // one after the other
};

/// Size of a pass that never ends.
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// Reads one pass from its beginning. Threads: one at a time.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  /// Fills `out` with the next item; false at the end. Errors: DataError for a bad item; the next call
  /// returns the item after it.
  virtual bool next(Datapoint& out) = 0;
  /// Skips up to `count` items; returns their number. Throws Stopped as of ReadStop.
  virtual int64_t skip(int64_t count);
};

/// The interface of every part of a dataflow: passes of items (samples or batches), by place or one after the
/// other. Has no position, so any number of readers can share it. Threads: all const methods may run at once
/// after `prepare`.
class Flow {
 public:
  Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  virtual ~Flow() = default;

  virtual const Spec& spec() const = 0;
  virtual Access access() const = 0;
  virtual Seek seek() const;
  /// Items of one pass: kEndless if it never ends, nothing if it is known only after reading. Before
  /// `prepare`, the declared size; after it, the size of the data.
  virtual std::optional<int64_t> size() const;
  /// Places of one pass; only for kIndexed and kFiltered.
  virtual int64_t places() const;

  /// Why a pass may have a sample of its sources more than once, or only by chance: "RepeatedData gives each
  /// sample 2 times"; empty if it has each of them at most once. After `prepare`.
  virtual std::string repeats() const { return {}; }

  /// Opens and checks files. Must be called before reading; a second call does nothing. Errors: DataError for
  /// missing or damaged data, ConfigError for a config that does not match them.
  virtual void prepare() const {}
  /// The sources of its items, in the order of the config. They live as long as the flow.
  virtual std::vector<const Source*> sources() const { return {}; }
  /// Learned values of its fitted maps, by fitted_name. After `prepare`.
  virtual std::map<std::string, State> learned() const { return {}; }
  /// The file of a sample; empty if it has no separate file, and for batches. `id` must be from this flow.
  virtual std::string file_of(const SampleId& id) const {
    (void)id;
    return {};
  }
  /// Fills `out` with the item at `place`, 0 <= place < places(). False if it is empty (kFiltered). Errors:
  /// SampleError.
  virtual bool get(const PassKey& pass, int64_t place, Datapoint& out) const;
  virtual std::unique_ptr<Cursor> open(const PassKey& pass) const;
};

using FlowPtr = std::shared_ptr<const Flow>;

/// Base of flows that change only the items or their order; everything else is the same as in the inner flow.
class WrappedFlow : public Flow {
 public:
  explicit WrappedFlow(FlowPtr up) : up_(std::move(up)) {}

  const Flow& up() const { return *up_; }
  const Spec& spec() const override { return up_->spec(); }
  Access access() const override { return up_->access(); }
  Seek seek() const override { return up_->seek(); }
  std::optional<int64_t> size() const override { return up_->size(); }
  int64_t places() const override { return up_->places(); }
  std::string repeats() const override { return up_->repeats(); }
  void prepare() const override { up_->prepare(); }
  std::vector<const Source*> sources() const override { return up_->sources(); }
  std::map<std::string, State> learned() const override { return up_->learned(); }
  std::string file_of(const SampleId& id) const override { return up_->file_of(id); }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    return up_->get(pass, place, out);
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override { return up_->open(pass); }

 private:
  FlowPtr up_;
};

/// The position of a sample in its file, or "sample 17".
std::string sample_name(const Flow& flow, const SampleId& id);

/// Reads the places of a flow that is kIndexed or kFiltered, in order.
std::unique_ptr<Cursor> cursor_by_place(const Flow& flow, const PassKey& pass);

}  // namespace tpack
