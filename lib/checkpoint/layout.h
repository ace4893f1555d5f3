#pragma once

#include <string>

namespace tpack::layout {

// The names of entries in a checkpoint (docs/checkpoint-format.md). No other file spells them.

// Tensors. A variable is model/NAME, optimizer/NAME or local/NAME; a slot of a variable optimizer/SLOT/NAME.
inline const std::string kModel = "model/";          // weights and statistics, needed for inference
inline const std::string kOptimizer = "optimizer/";  // slots and hyper-parameters
inline const std::string kLocal = "local/";          // local state of replica 0
inline const std::string kReplicas = "replicas/";    // replicas/K/local/NAME: local state of the others
// Arrays of callbacks: callback_arrays/CALLBACK/NAME.
inline const std::string kCallbackArrays = "callback_arrays/";
// Arrays of the agent of data.train, such as its memory: agent_arrays/NAME.
inline const std::string kAgentArrays = "agent_arrays/";

// Texts.
inline const std::string kRun = "run/json";  // epoch, step, hooks that have run: train/loop_checkpoint.cpp
inline const std::string kHyperParameters =
    "hyper_parameters/json";                         // initial values from the config: run/config_changes.h
inline const std::string kChanges = "changes/json";  // of the config, by step: run/config_changes.h
inline const std::string kData = "data/json";        // the position in the data: train/saved_state.h
inline const std::string kAgent = "agent/json";  // the agent that plays with the model: train/agent_link.h
inline const std::string kInput =
    "input/json";  // the input of a trainer's own model: train/batch_trainer.cpp
inline const std::string kHistory = "monitors/json";  // all scalars so far: monitor/monitors.h
inline const std::string kCallbacks = "callbacks/";   // callbacks/NAME: state of that callback
inline const std::string kConfig = "config/yaml";     // the effective config
inline const std::string kWritten =
    "config/written";  // the config with its expressions: learner/inference_model.h
inline const std::string kWrittenIn = "config/folder";  // base folder of its paths
inline const std::string kPlan = "plan/json";           // chosen algorithms: backend/plan.h
inline const std::string kLabels = "labels/json";       // names of the classes: a list of texts
inline const std::string kFitted =
    "fitted/json";  // learned values for all data of the model: learner/stored_data.h
inline const std::string kFlows = "flows/json";  // files that were read: run/data_changes.h

}  // namespace tpack::layout
