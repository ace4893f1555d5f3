#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/open_device.h"
#include "comm/comm.h"
#include "core/part.h"
#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "input/input_source.h"
#include "optim/update.h"
#include "train/trainer_parts.h"

namespace tpack {

/// The setup of a trainer. Parts that it does not need may be missing.
struct TrainSetup {
  const TowerFunction* tower = nullptr;                    // the model
  std::vector<Update> updates;                             // what trains it
  const std::map<std::string, DataFlow>* flows = nullptr;  // never null
  const InputSource* input = nullptr;                      // never null
  EngineSettings engine;
  Plan* plan = nullptr;   // never null
  Comm* world = nullptr;  // never null: a group of one without mpirun
  uint64_t seed = 0;

  /// data.train; null if there is none.
  const DataFlow* train_flow() const {
    const auto found = flows->find("train");
    return found != flows->end() ? &found->second : nullptr;
  }
};

/// One step, and saving and loading of its state; not the loop, callbacks and files. A trainer implements
/// `step`, and derives from parts for everything else that it has (variables, statistics, a model, data;
/// trainer_parts.h): `class Annealing : public Trainer, public TrainedVariables`. Order of calls: setup,
/// compile, initialize (which compiles if necessary), maybe load, then steps. Threads: one caller.
class Trainer : public HasParts<Trainer> {
 public:
  static constexpr const char* kKind = "trainer";
  virtual ~Trainer() = default;

  /// Sections of the config that it requires.
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
  /// One step. False at the end of the data. A wait or a long computation may end early with Stopped if
  /// `stop` is requested, but not while other ranks depend on this one, unless they learn about it
  /// (rank_vote.h; they throw PeerInterrupted). After either, only `save` may follow, which saves the state
  /// before the step. Errors: those of the data, a device or a peer.
  virtual bool step(int64_t global_step, const std::stop_token& stop) = 0;

  /// Saves and loads the state that determines the next step: by default the TrainedVariables; also the
  /// position in the data. `save` is called on the chief, `load` on every rank. Errors: CheckpointError if
  /// the content does not match.
  virtual void save(CheckpointContent& content) const;
  virtual void load(const CheckpointContent& content, const std::string& source);
  /// From setup on: checks whether a run may be resumed from this content, before anything is compiled.
  /// Errors: CheckpointError with the reason.
  virtual void check_resumable(const CheckpointContent& content, const std::string& source) const {
    (void)content;
    (void)source;
  }
};

}  // namespace tpack
