#pragma once

#include <string>

namespace tpack {

/// The checkout, e.g. for files below tests/.
std::string source_folder();

/// The build folder, in which the program lies.
std::string build_folder();

}  // namespace tpack
