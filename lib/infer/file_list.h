#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// The files of words on a command line, in order: a file; a folder (its images, sorted, including
/// subfolders); `@FILE` (a list, one path per line, or separated by NUL characters); `-` (the same from
/// standard input, as it arrives). Threads: one at a time.
class FileList {
 public:
  explicit FileList(std::vector<std::string> words) : words_(std::move(words)) {}

  /// The files known before reading: all, except that for a list on standard input only the first one is
  /// known. Errors: DataError for a missing list or folder.
  std::vector<std::string> known();
  struct Item {
    std::string path;
    bool is_of_input = false;  // of standard input
    std::string line = {};     // in that case the text as read, with spaces at its ends
  };
  /// The next one; nothing at the end. Calls `on_wait` before it waits for standard input. Errors: as for
  /// known.
  std::optional<Item> next(const std::function<void()>& on_wait);

 private:
  void expand(const std::string& word);
  void read_input(const std::function<void()>& on_wait);
  void take_paths();

  std::vector<std::string> words_;
  size_t next_word_ = 0;
  std::deque<Item> items_;
  bool reads_input_ = false;  // until the end of standard input
  std::string input_;         // read, but not a complete path yet
  char separator_ = 0;        // separator of its paths; known with the first one
  bool knows_separator_ = false;
};

}  // namespace tpack
