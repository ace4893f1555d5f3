#pragma once

#include <string>

namespace tpack {

/// The checkout, e.g. for files below tests/.
std::string source_folder();

/// The build folder, which contains the program.
std::string build_folder();

}  // namespace tpack
