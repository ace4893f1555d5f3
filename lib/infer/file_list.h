#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// The files that words of a command line mean, in their order: a file; a folder (its images, sorted, folders
/// in it too); `@FILE` (a list, one path per line, or with NUL characters between the paths); `-` (the same
/// from standard input, as they come). Threads: one at a time.
class FileList {
 public:
  explicit FileList(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Those that are known before any is read: all, but of a list on standard input the first one only.
  /// Errors: DataError for a list or folder that is not there.
  std::vector<std::string> known();
  struct Item {
    std::string path;
    bool is_of_input = false;  // of standard input
    std::string line = {};     // then, what was read, with spaces at its ends
  };
  /// The next one; nothing at the end. Calls `on_wait` before it waits for standard input. Errors: as known.
  std::optional<Item> next(const std::function<void()>& on_wait);

 private:
  void expand(const std::string& word);
  void read_input(const std::function<void()>& on_wait);
  void take_paths();

  std::vector<std::string> words_;
  size_t next_word_ = 0;
  std::deque<Item> items_;
  bool reads_input_ = false;  // until the end of standard input
  std::string input_;         // what was read of it and is not yet a path
  char separator_ = 0;        // between its paths; known with the first one
  bool knows_separator_ = false;
};

}  // namespace tpack
