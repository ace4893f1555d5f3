#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace tpack {

/// Adds `tpack data serve` and `tpack data keys`.
void add_serve_commands(CLI::App& data, Action& action);

}  // namespace tpack
