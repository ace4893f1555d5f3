#include "core/position.h"

#include <tuple>

namespace tpack {

std::string Position::str() const {
  if (!known()) return "";
  if (line == 0) return *file;
  return *file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

bool Position::operator==(const Position& other) const {
  if (known() != other.known()) return false;
  return !known() || std::tie(*file, line, column) == std::tie(*other.file, other.line, other.column);
}

bool Position::operator<(const Position& other) const {
  if (!known() || !other.known()) return known() && !other.known();
  return std::tie(*file, line, column) < std::tie(*other.file, other.line, other.column);
}

}  // namespace tpack
