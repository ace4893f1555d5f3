#include "sources/name_list.h"

#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "system/mapped_file.h"

namespace tpack {

NameList::NameList(const Ref<Path>& file) {
  if (file.empty()) return;
  require_path("list of names", file);
  path_ = resolved_path(file);
  const MappedFile mapped(path_);
  const auto bytes = mapped.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string& line : split(without_byte_order_mark(text), '\n')) {
    const std::string_view trimmed = trim(line);
    const std::string name = composed(std::string(trimmed.substr(0, trimmed.find_first_of(" \t"))));
    if (name.empty()) continue;
    if (!taken_.emplace(name, false).second) throw DataError(path_, "has '" + printable(name) + "' twice");
  }
  if (taken_.empty()) throw DataError(path_, "has no names");
}

bool NameList::take(const std::string& file) {
  if (is_everything()) return true;
  for (const std::string& name : {file, std::filesystem::path(file).stem().string()}) {
    const auto found = taken_.find(composed(name));
    if (found == taken_.end()) continue;
    found->second = true;
    return true;
  }
  return false;
}

void NameList::check_taken(const std::string& place) const {
  std::vector<std::string> absent;
  for (const auto& [name, is_taken] : taken_)
    if (!is_taken) absent.push_back(printable(name));
  if (!absent.empty())
    throw DataError(path_, "has " + join_first(absent) + " (" + std::to_string(absent.size()) + " of " +
                               std::to_string(taken_.size()) + " names), which " + place + " has not");
}

}  // namespace tpack
