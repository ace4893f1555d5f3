#pragma once

#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "input/input_source.h"
#include "predict/stored_variables.h"
#include "tensor/state.h"

namespace tpack {

/// Adds a state: its values as the text `entry`, its arrays below `arrays`.
void save_state(const State& state, const std::string& entry, const std::string& arrays,
                CheckpointContent& content);
/// Loads it; empty if there is no such text.
std::optional<State> load_state(const CheckpointContent& content, const std::string& source,
                                const std::string& entry, const std::string& arrays);

/// Adds the position in the data. A trainer may add more about its data to the same `State`.
void save_position(const DataPosition& position, State& state);
DataPosition load_position(const State& state);

/// The data section of a checkpoint. Errors: CheckpointError if there is none.
State data_state(const CheckpointContent& content, const std::string& source);
/// Checks a number of `data` that must be the same in a resumed run. Errors: CheckpointError.
void require_same(const State& data, const std::string& source, const std::string& name, int64_t here);
/// Rejects a batch size different from `data`, unless the checkpoint was made at the end of an epoch. Errors:
/// CheckpointError.
void require_batch_size(const CheckpointContent& content, const std::string& source, const State& data,
                        int64_t here);
/// The position in `data`; for a different batch size, the position of the batch with the next sample of the
/// pass, so fewer samples than a batch may be repeated.
DataPosition position_for(const State& data, const DataFlow& flow);
/// Checks that the flow can continue from the position in `data`. Errors: CheckpointError.
void require_seek(const State& data, const std::string& source, const DataFlow& flow);

}  // namespace tpack
