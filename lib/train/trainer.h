#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/open_device.h"
#include "comm/comm.h"
#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "input/input_source.h"
#include "optim/update.h"
#include "train/trainer_parts.h"

namespace tpack {

/// What a trainer is given. What it does not need may be missing.
struct TrainSetup {
  const TowerFunction* tower = nullptr;                    // the model
  std::vector<Update> updates;                             // what trains it
  const std::map<std::string, DataFlow>* flows = nullptr;  // never null
  const InputSource* input = nullptr;                      // never null
  EngineSettings engine;
  Plan* plan = nullptr;   // never null
  Comm* world = nullptr;  // never null: the group of one if mpirun did not start the process
  uint64_t seed = 0;

  /// data.train; null if there is none.
  const DataFlow* train_flow() const {
    const auto found = flows->find("train");
    return found != flows->end() ? &found->second : nullptr;
  }
};

/// One step, and how to save and load what the next one needs; the loop, callbacks and files are not its
/// concern. A trainer of one's own writes `step`; what else it has (variables, statistics, a model, data) it
/// offers by deriving from parts, too (trainer_parts.h): `class Annealing : public Trainer, public
/// TrainedVariables`. Order of calls: setup, compile, initialize (which compiles if that was not done), load
/// or not, then steps. Threads: one caller.
class Trainer {
 public:
  static constexpr const char* kKind = "trainer";
  virtual ~Trainer() = default;

  /// Sections of the config that it cannot do without.
  struct Needs {
    bool data = true;
    bool model = true;
    bool optimizer = true;
  };
  virtual Needs needs() const { return {}; }

  virtual void setup(const TrainSetup& setup) { (void)setup; }
  /// Allocates the variables and compiles the programs.
  virtual void compile() {}
  /// Sets initial values, opens the data.
  virtual void initialize() {}
  /// One step. False at the end of the data. A wait, or a long computation, may end early with Stopped once
  /// `stop` is requested, but not where other ranks count on this one's part of the step, unless they learn
  /// it (rank_vote.h; they throw PeerInterrupted). After either only `save` may follow, which saves the state
  /// before the step. Errors: what the data, a device or a peer throw.
  virtual bool step(int64_t global_step, const std::stop_token& stop) = 0;

  /// Adds to a checkpoint, and takes back, what makes the next step the same: by default the
  /// TrainedVariables; also the place in the data. Called on the chief; `load` on every rank. Errors:
  /// CheckpointError if the content does not fit.
  virtual void save(CheckpointContent& content) const;
  virtual void load(const CheckpointContent& content, const std::string& source);
  /// From setup on: whether a run may be resumed from this content at all, before anything is compiled for
  /// it. Errors: CheckpointError with the reason.
  virtual void check_resumable(const CheckpointContent& content, const std::string& source) const {
    (void)content;
    (void)source;
  }

  /// The part of this type; if the trainer does not derive from it, one that has nothing.
  template <class Part>
  Part& part() {
    static Part nothing;
    auto* own = dynamic_cast<Part*>(this);
    return own != nullptr ? *own : nothing;
  }
  template <class Part>
  const Part& part() const {
    static const Part nothing;
    const auto* own = dynamic_cast<const Part*>(this);
    return own != nullptr ? *own : nothing;
  }
};

}  // namespace tpack
