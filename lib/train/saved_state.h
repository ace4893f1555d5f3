#pragma once

#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "input/input_source.h"
#include "learner/stored_variables.h"
#include "tensor/state.h"

namespace tpack {

/// Adds a state: its values as the text `entry`, its arrays below `arrays`.
void save_state(const State& state, const std::string& entry, const std::string& arrays,
                CheckpointContent& content);
/// Takes it back; nothing if there is no such text.
std::optional<State> load_state(const CheckpointContent& content, const std::string& source,
                                const std::string& entry, const std::string& arrays);

/// Adds the place in the data. What else a trainer has to say of its data goes into the same `State`.
void save_position(const DataPosition& position, State& state);
DataPosition load_position(const State& state);

/// What a checkpoint says of the data. Errors: CheckpointError if it says nothing.
State data_state(const CheckpointContent& content, const std::string& source);
/// Checks a number of `data` that must be the same in a run that goes on. Errors: CheckpointError.
void require_same(const State& data, const std::string& source, const std::string& name, int64_t here);
/// Refuses another batch size than that of `data`, unless the checkpoint was made at the end of an epoch.
/// Errors: CheckpointError.
void require_batch_size(const CheckpointContent& content, const std::string& source, const State& data,
                        int64_t here);
/// The position in `data`; for another batch size, that of the batch with the next sample of the pass, so
/// that fewer samples than a batch may come again.
DataPosition position_for(const State& data, const DataFlow& flow);
/// Checks that the flow can go on from the place in `data`. Errors: CheckpointError.
void require_seek(const State& data, const std::string& source, const DataFlow& flow);

}  // namespace tpack
