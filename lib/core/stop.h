#pragma once

#include <stop_token>

namespace tpack {

/// Thrown by a blocking wait that was asked to stop. No error: whoever asked catches it.
struct Stopped {};

}  // namespace tpack
