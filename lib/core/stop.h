#pragma once

#include <stop_token>

namespace tpack {

/// Thrown by a blocking wait when a stop is requested. Not an error: the code that requested it catches it.
struct Stopped {};

}  // namespace tpack
