#include "callbacks/extra_file.h"

#include <filesystem>

#include "core/error.h"
#include "system/log.h"

namespace tpack {

void write_extra_file(const std::string& path, const std::function<void()>& write) {
  std::error_code exists;  // other errors appear when writing
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), exists);
  try {
    write();
  } catch (const ResourceError& error) {
    log::error(error.what());
  }
}

}  // namespace tpack
