#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Whether data.train of a config has `batch_size: auto`. Errors: as load_config.
bool has_automatic_batch(const std::string& path, const std::vector<std::string>& overrides);

/// An override with a number in place of that: the largest batch with which the peak memory that `check`
/// predicts is at most engine.memory_mb, and which a pass over the data fills; above 16, a multiple of 8.
/// Errors: ConfigError without memory_mb; ResourceError if one sample needs more; those of CheckedExperiment.
std::string fitted_batch(const std::string& path, const std::vector<std::string>& overrides);

/// An override with the number of an earlier config (its text), to continue a run; empty if it has none.
std::string batch_of(const std::string& config);

}  // namespace tpack
