#include "support/paths.h"

namespace tpack {

std::string source_folder() { return TPACK_SOURCE_DIR; }

std::string build_folder() { return TPACK_BINARY_DIR; }

}  // namespace tpack
