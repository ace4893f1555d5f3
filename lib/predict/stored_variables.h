#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "backend/variable_store.h"
#include "checkpoint/checkpoint.h"

namespace tpack {

/// The entry of a variable in checkpoints: "model/conv0/W"; "optimizer/m/conv0/W" for the part of a slot
/// named "@m/conv0/W" in the store.
std::string entry_of(VariableScope scope, const std::string& name);

/// Adds the variables of a store to a checkpoint: those of the model, the optimizer's and local ones.
void save_variables(const VariableStore& store, CheckpointContent& content);
/// Loads them. `others`: entries of variables that are loaded elsewhere. Errors: CheckpointError for a
/// variable that is missing or has a different type or shape, and for an unused entry.
void load_variables(const CheckpointContent& content, const std::string& source, VariableStore& store,
                    const std::set<std::string>& others = {});

/// The entry of a local variable of a replica.
std::string local_entry(int64_t replica, const std::string& name);

}  // namespace tpack
