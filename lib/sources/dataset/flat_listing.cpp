#include "sources/dataset/flat_listing.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/dataset/image_tar.h"
#include "system/mapped_file.h"

namespace tpack {

namespace fs = std::filesystem;

std::vector<std::string> lines_of_file(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  std::vector<std::string> lines;
  for (const std::string& line : split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, '\n'))
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  return lines;
}

std::string word_of(const std::string& line, size_t number, const char* separators) {
  size_t begin = 0;
  for (;; --number) {
    const size_t end = std::min(line.find_first_of(separators, begin), line.size());
    if (number == 0) return line.substr(begin, end - begin);
    if (end == line.size()) return {};
    begin = end + 1;
  }
}

FlatListing::FlatListing(const std::string& place, std::vector<std::string> classes, std::string list)
    : listing_{.folder = place, .classes = std::move(classes), .files = {}}, list_(std::move(list)) {
  for (const std::string& name : listing_.classes)
    numbers_.emplace(name, static_cast<int32_t>(numbers_.size()));
}

void FlatListing::add(const std::string& file, const std::string& synset) {
  const auto found = numbers_.find(synset);
  if (found == numbers_.end())
    throw DataError(list_, "has the class '" + printable(synset) + "' of " + printable(file) +
                               ", which is not one of the " + std::to_string(numbers_.size()) + " classes");
  listing_.files.push_back({file, found->second});
}

void FlatListing::add_number(const std::string& file, const std::string& digits) {
  size_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, number);
  if (failure != std::errc{} || stop != end || number >= listing_.classes.size())
    throw DataError(list_, "has the class '" + printable(digits) + "' of " + printable(file) +
                               "; must be from 0 to " + std::to_string(listing_.classes.size() - 1));
  listing_.files.push_back({file, static_cast<int32_t>(number)});
}

FileListing FlatListing::finish() {
  std::map<std::string, TarMember> in_archive;
  const bool is_archive = listing_.folder.ends_with(".tar");
  if (is_archive) {
    const ImageTar archive(listing_.folder);
    for (TarMember& member : archive.members()) in_archive.emplace(member.name, member);
    listing_.archive = archive.file();
  }
  std::vector<std::string> missing;
  for (FileListing::Entry& file : listing_.files) {
    const auto found = in_archive.find(file.path);
    if (found != in_archive.end()) {
      file.offset = found->second.data;
      file.bytes = found->second.size;
    } else if (is_archive || !fs::is_regular_file(fs::path(listing_.folder) / file.path)) {
      missing.push_back(printable(file.path));
    }
  }
  if (!missing.empty())
    throw DataError(listing_.folder, "has no file " + join_first(missing) + " (" +
                                         std::to_string(missing.size()) + " of " +
                                         std::to_string(listing_.files.size()) + " images of " + list_ + ")");
  return std::move(listing_);
}

}  // namespace tpack
