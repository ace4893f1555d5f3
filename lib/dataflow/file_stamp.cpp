#include "dataflow/file_stamp.h"

#include <filesystem>

namespace tpack {

std::string file_stamp(const std::string& path) {
  std::error_code gone;
  const uintmax_t bytes = std::filesystem::file_size(path, gone);
  const auto date = std::filesystem::last_write_time(path, gone).time_since_epoch().count();
  return std::filesystem::path(path).filename().string() + " " + std::to_string(bytes) + " " +
         std::to_string(date) + "\n";
}

}  // namespace tpack
