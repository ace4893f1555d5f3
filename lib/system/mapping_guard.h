#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tpack {

/// Guards memory that is mapped from a file: when another program makes the file shorter, reading what is
/// gone would end the program (SIGBUS). As long as the guard lives, it gives zeros instead, and
/// check_mapped_files fails. So does memory that the disk cannot read. Threads: any.
class MappingGuard {
 public:
  /// `mapped` begins with a page.
  MappingGuard(std::span<const uint8_t> mapped, std::string path);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

 private:
  friend struct GuardedMappings;
  std::span<const uint8_t> mapped_;
  std::string path_;
  bool is_lost_ = false;
  bool is_reported_ = false;
  MappingGuard* next_ = nullptr;  // in the list of all
};

/// Call after reading guarded memory, before its content is used. Costs nothing as long as nothing is lost.
/// Errors: DataError with the path, again and again while the mapping lives, else once.
void check_mapped_files();

}  // namespace tpack
