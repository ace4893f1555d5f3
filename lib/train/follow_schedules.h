#pragma once

#include <memory>

#include "train/callback.h"

namespace tpack {

/// A callback that sets the trainer's hyper-parameters with a schedule before each step, on every rank; null
/// if none has one. Errors of its setup: ConfigError for a schedule with an invalid value.
std::unique_ptr<Callback> follow_schedules(const Trainer& trainer);

/// The error for a value of a hyper-parameter; null if it is valid.
const char* why_invalid(const std::string& hyper_parameter, double value);

}  // namespace tpack
