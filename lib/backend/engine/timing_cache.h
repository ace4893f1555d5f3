#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tpack {

/// The measured time of one way to run a node.
struct Measurement {
  double seconds = 0;  // of one run; infinite if this hardware does not have the way
  uint64_t scratch_bytes = 0;
  bool disturbed = false;  // other processes used the hardware in every run
};

/// Timings by node and way, in memory and, if a folder is given, in a file for each kind of hardware. Timings
/// of another version of the kernels are not used. Threads: one at a time; several processes may share the
/// file.
class TimingCache {
 public:
  TimingCache(const std::string& folder, std::string hardware, std::string version);

  /// Null if there is none.
  const Measurement* find(const std::string& key) const;
  void put(const std::string& key, const Measurement& measured);
  /// Writes the file, including additions of other processes. A file that cannot be written is not an error,
  /// because it is only a cache.
  void save();
  /// Empty if there is none.
  const std::string& path() const { return path_; }

 private:
  void add_from_file();

  std::string path_;
  std::string version_;  // the first line of the file
  std::map<std::string, Measurement> known_;
};

}  // namespace tpack
