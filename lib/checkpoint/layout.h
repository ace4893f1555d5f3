#pragma once

#include <string>

namespace tpack::layout {

// The names of what training writes to a checkpoint (docs/checkpoint-format.md). No other file spells them.

// Tensors. A variable is model/NAME, optimizer/NAME or local/NAME; a slot of a variable optimizer/SLOT/NAME.
inline const std::string kModel = "model/";          // weights and statistics: what inference needs
inline const std::string kOptimizer = "optimizer/";  // slots and hyper-parameters
inline const std::string kLocal = "local/";          // the own state of replica 0
inline const std::string kReplicas = "replicas/";    // replicas/K/local/NAME: that of the others
// What callbacks keep besides their texts: callback_arrays/CALLBACK/NAME.
inline const std::string kCallbackArrays = "callback_arrays/";
// What the agent of data.train keeps, such as its memory: agent_arrays/NAME.
inline const std::string kAgentArrays = "agent_arrays/";

// Texts.
inline const std::string kRun = "run/json";  // epoch, step, hooks that have run: train/loop_checkpoint.cpp
inline const std::string kHyperParameters =
    "hyper_parameters/json";  // initial values that the config sets: run/config_changes.h
inline const std::string kChanges = "changes/json";  // of the config, by step: run/config_changes.h
inline const std::string kData = "data/json";        // the place in the data: train/saved_state.h
inline const std::string kAgent = "agent/json";      // what plays with the model: train/agent_link.h
inline const std::string kInput =
    "input/json";  // what the own model of a trainer takes: train/batch_trainer.cpp
inline const std::string kHistory = "monitors/json";  // all scalars so far: monitor/monitors.h
inline const std::string kCallbacks = "callbacks/";   // callbacks/NAME: what that callback keeps
inline const std::string kConfig = "config/yaml";     // the effective config
inline const std::string kWritten =
    "config/written";  // the config with its expressions: learner/inference_model.h
inline const std::string kWrittenIn = "config/folder";  // to which paths in it are relative
inline const std::string kPlan = "plan/json";           // chosen algorithms: backend/plan.h
inline const std::string kLabels = "labels/json";       // names of the classes: a list of texts
inline const std::string kFitted = "fitted/json";  // what all data of the model follow: learner/stored_data.h
inline const std::string kFlows = "flows/json";    // what was read: run/data_changes.h

}  // namespace tpack::layout
