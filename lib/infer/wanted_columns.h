#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Columns of a table whose texts its samples shall have.
struct WantedColumns {
  std::vector<std::string> required = {};  // an error where the table has none of that name
  std::vector<std::string> optional = {};
  std::string others = {};  // what else may be named, for that error
};

}  // namespace tpack
