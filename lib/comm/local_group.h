#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/comm.h"

namespace tpack {

/// Threads of one process that act together: the towers of a trainer. Each member is used by one thread. The
/// group outlives its members. Only all_gather allocates.
class LocalGroup {
 public:
  /// No time-out: for threads that cannot disappear unnoticed, because their errors end in `abort`; a tower
  /// may wait for its data without limit.
  static constexpr double kNoTimeout = std::numeric_limits<double>::infinity();

  explicit LocalGroup(int size, double timeout_s = kNoTimeout);
  ~LocalGroup();
  LocalGroup(const LocalGroup&) = delete;
  LocalGroup& operator=(const LocalGroup&) = delete;

  int size() const { return static_cast<int>(slots_.size()); }
  /// The member of that rank.
  std::unique_ptr<Comm> member(int rank);
  /// Makes every current and later wait of every member throw DistributedError with this reason: called when
  /// a member's thread has failed. Threads: any.
  void abort(const std::string& reason);

 private:
  class Member;

  /// Data that a member exposes to the others.
  struct Slot {
    void* data = nullptr;
    size_t count = 0;
    int value = 0;
    const std::string* text = nullptr;
    uint64_t arrived = 0;  // number of waits of this member
    const char* stage = "";
    std::string busy_with = {};
    std::atomic<bool> is_urgent = true;
  };

  /// An operation lasts from one meeting to the next.
  enum class Meeting : uint8_t { kOpens, kCloses };
  /// Waits until all members are here and checks that all are at the same stage.
  void meet(int rank, const char* stage, Meeting meeting);
  [[noreturn]] void fail(std::unique_lock<std::mutex>& lock, const std::string& who);
  void end_work();
  void stay_awake(const Slot& own, uint64_t turn) const;
  bool wait(std::unique_lock<std::mutex>& lock, uint64_t turn);
  void require_busy(const std::string& who, const std::vector<int>& late);
  void check_agreement(int rank, const char* stage);
  std::vector<int> missing(uint64_t turn) const;

  std::vector<Slot> slots_;
  double timeout_s_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint64_t> turns_ = 0;  // finished meetings; changed with the lock
  uint64_t notices_ = 0;             // number of busy reports of members
  int here_ = 0;                     // members at the current meeting
  int working_ = 0;                  // members in an operation, which read the data of others
  std::string failure_;
};

}  // namespace tpack
