#include "infer/file_list.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "image/image.h"
#include "system/file_io.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

void add_folder(const std::string& folder, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code unknown;
    const std::string path = at->path().string();
    if (is_hidden(at->path().filename().string())) {
      at.disable_recursion_pending();
      continue;
    }
    // A dangling link counts as a broken image.
    const bool is_file = at->is_regular_file(unknown) || is_dangling_link(path);
    if (is_file && is_image_file(path)) found.push_back(path);
  }
  if (failure) throw DataError(folder, "cannot be listed completely: " + failure.message());
  if (found.empty()) {
    throw DataError(folder,
                    "has no " + image_file_endings() +
                        " files; for a model that takes numbers, name a CSV, .npz, .h5 or SVMLight file");
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

void add_path(std::string_view item, char separator, bool is_of_input, std::deque<FileList::Item>& items) {
  const std::string_view path = separator == '\n' ? trim(item) : item;
  if (path.empty()) return;
  items.push_back({std::string(path), is_of_input, is_of_input ? std::string(item) : std::string()});
}

}  // namespace

std::vector<std::string> FileList::known() {
  while (next_word_ < words_.size() && !reads_input_) expand(words_[next_word_++]);
  while (items_.empty() && reads_input_) read_input([] {});
  std::vector<std::string> paths;
  for (const Item& item : items_) paths.push_back(item.path);
  return paths;
}

std::optional<FileList::Item> FileList::next(const std::function<void()>& on_wait) {
  while (items_.empty()) {
    if (reads_input_)
      read_input(on_wait);
    else if (next_word_ < words_.size())
      expand(words_[next_word_++]);
    else
      return std::nullopt;
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

void FileList::expand(const std::string& word) {
  std::error_code failure;
  if (word == "-") {
    reads_input_ = true;
  } else if (word.starts_with("@")) {
    const std::optional<std::string> content = read_whole_file(word.substr(1), Reads::kStreams);
    if (!content) throw DataError(word.substr(1), "this list cannot be read");
    const std::string_view list = without_byte_order_mark(*content);
    const char separator = list.find('\0') == std::string_view::npos ? '\n' : '\0';
    for (const std::string& item : split(list, separator)) add_path(item, separator, false, items_);
  } else if (fs::is_directory(word, failure)) {
    std::vector<std::string> files;
    add_folder(word, files);
    for (const std::string& file : files) items_.push_back({file});
  } else {
    items_.push_back({word});
  }
}

void FileList::read_input(const std::function<void()>& on_wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) == 0) on_wait();
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got < 0) throw DataError("standard input cannot be read: " + std::string(std::strerror(errno)));
  input_.append(buffer.data(), static_cast<size_t>(got));
  if (got == 0) reads_input_ = false;
  take_paths();
}

/// The lines, or the parts between NUL characters if a NUL comes first (`find -print0`): such paths may
/// contain line ends, and spaces at their ends.
void FileList::take_paths() {
  if (!knows_separator_) {
    const size_t first = input_.find_first_of(std::string_view("\n\0", 2));
    if (first == std::string::npos && reads_input_) return;
    // A name with a line end before the first NUL is in the same buffer.
    separator_ = input_.find('\0') == std::string::npos ? '\n' : '\0';
    knows_separator_ = true;
    input_ = without_byte_order_mark(input_);
  }
  size_t begin = 0;
  for (size_t end = 0; (end = input_.find(separator_, begin)) != std::string::npos; begin = end + 1)
    add_path(std::string_view(input_).substr(begin, end - begin), separator_, true, items_);
  input_.erase(0, begin);
  if (!reads_input_) {
    add_path(input_, separator_, true, items_);
    input_.clear();
  }
}

}  // namespace tpack
