#pragma once

#include <memory>
#include <string>

namespace tpack {

/// The position of a value in its file. Cheap to copy; the file name is shared.
struct Position {
  std::shared_ptr<const std::string>
      file;        // null: not from a file; "--set KEY" for a value of the command line
  int line = 0;    // from 1; 0 if the source has no lines
  int column = 0;  // from 1, in characters

  bool known() const { return file != nullptr; }
  /// "train.yaml:42:13", "--set optimizer", or "" if unknown.
  std::string str() const;
  /// Compares file name, line and column.
  bool operator==(const Position& other) const;
  /// File name, then line, then column; unknown positions last.
  bool operator<(const Position& other) const;
};

}  // namespace tpack
