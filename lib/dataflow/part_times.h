#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/position.h"

namespace tpack {

class Datapoint;

/// A component of a flow, with the name that it has in errors: "map_data_1".
struct FlowPart {
  std::string name;
  Position position = {};
};

/// The part for decoding that no component asked for, because on_error wants to know about damaged images.
extern const std::string kDecodingPart;

/// The time of a part alone, without the parts before it, and the size of what it made.
struct PartTime {
  double seconds = 0;
  int64_t items = 0;  // samples, or batches after BatchData
  int64_t bytes = 0;  // of all items after this part

  double bytes_per_item() const {
    return items > 0 ? static_cast<double>(bytes) / static_cast<double>(items) : 0;
  }
};

/// Where the workers of a stream spend their time, measured in one of `every` pieces of work (a piece is a
/// few samples, see ChunkSize). Data do not depend on it. Threads: any.
class PartTimes {
 public:
  explicit PartTimes(int64_t every) : every_(every) {}

  /// The measured pieces together.
  struct Totals {
    std::map<std::string, PartTime> parts;  // by name; those that were used
    double rest_s = 0;                      // outside of parts: the order of samples, calls
    int64_t samples = 0;                    // that reached the end of the flow or a batch

    double seconds() const;
  };
  Totals totals() const;
  void reset();

  /// Whether the next piece of work is measured.
  bool next() { return count_.fetch_add(1, std::memory_order_relaxed) % every_ == 0; }

 private:
  friend class WorkClock;

  const int64_t every_;
  std::atomic<int64_t> count_ = 0;
  mutable std::mutex mutex_;
  Totals totals_;
};

/// While it lives, the time of this thread counts for the parts that it runs. Without a clock, a PartTimer
/// costs a nanosecond. Threads: one.
class WorkClock {
 public:
  /// Null: measures nothing.
  explicit WorkClock(PartTimes* into);
  ~WorkClock();
  WorkClock(const WorkClock&) = delete;
  WorkClock& operator=(const WorkClock&) = delete;

  void add_samples(int64_t count) { samples_ += count; }

 private:
  friend class PartTimer;
  using Clock = std::chrono::steady_clock;
  struct Entry {
    const std::string* part = nullptr;
    PartTime time = {};
  };

  void enter(const std::string& part);
  void leave(const Datapoint* made);
  /// Adds the time since the last call to the part that is running.
  void account();

  PartTimes* into_;
  WorkClock* outer_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<size_t> running_;  // entries, outermost first
  double rest_s_ = 0;
  int64_t samples_ = 0;
  Clock::time_point last_ = {};
};

/// In its scope, the thread's time belongs to a part; inner scopes do not count for it. The part's name and
/// `made` must outlive the thread's WorkClock and this scope.
class PartTimer {
 public:
  /// `made`: the item that the part makes.
  explicit PartTimer(const std::string& part, const Datapoint* made = nullptr);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  WorkClock* clock_;  // null: nothing is measured
  const Datapoint* made_;
};

}  // namespace tpack
