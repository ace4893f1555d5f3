#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Columns of a table whose texts samples must have.
struct WantedColumns {
  std::vector<std::string> required = {};  // an error if the table does not have it
  std::vector<std::string> optional = {};
  std::string others = {};  // other possible names, for that error
};

}  // namespace tpack
