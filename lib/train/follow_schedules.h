#pragma once

#include <memory>

#include "train/callback.h"

namespace tpack {

/// What sets the trainer's hyper-parameters that have a schedule, before each step, on every rank; null if
/// none has one. Errors of its setup: ConfigError for a schedule that gives a value which is not possible.
std::unique_ptr<Callback> follow_schedules(const Trainer& trainer);

/// What is wrong with a value of a hyper-parameter; null if nothing is.
const char* why_invalid(const std::string& hyper_parameter, double value);

}  // namespace tpack
