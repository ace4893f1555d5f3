#pragma once

#include <stop_token>

namespace tpack {

/// Thrown by a blocking wait that was asked to stop. Not an error: the code that asked catches it.
struct Stopped {};

}  // namespace tpack
