#pragma once

#include <map>
#include <string>
#include <vector>

#include "sources/dataset/labeled_files.h"

namespace tpack {

/// The lines of a text that are not empty, without spaces around them. Errors: FileError.
std::vector<std::string> lines_of_file(const std::string& path);
/// The word with a number, from 0, of a line; empty if it has fewer words.
std::string word_of(const std::string& line, size_t number, const char* separators = " \t,");

/// The images of one folder, or of a tar archive, with their classes from a list. Errors: DataError with the
/// file of the list.
class FlatListing {
 public:
  /// `place`: the folder, or the path of the archive, which ends in ".tar". `list`: the file of the classes.
  FlatListing(const std::string& place, std::vector<std::string> classes, std::string list);

  void add(const std::string& file, const std::string& synset);
  /// A class by its number, from 0.
  void add_number(const std::string& file, const std::string& digits);
  /// Errors: DataError for files that are missing.
  FileListing finish();

 private:
  FileListing listing_;
  std::string list_;
  std::map<std::string, int32_t> numbers_;
};

}  // namespace tpack
