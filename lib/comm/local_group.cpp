#include "comm/local_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "comm/fixed_order_sum.h"
#include "core/error.h"
#include "core/spin_then_yield.h"
#include "core/text.h"

namespace tpack {

class LocalGroup::Member final : public Comm {
 public:
  Member(LocalGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }
  void all_reduce_sum(std::span<float> values, const char* stage, Compression /*no bytes travel*/) override {
    reduce(values, stage, size());
  }
  void all_reduce_sum(std::span<double> values, const char* stage) override { reduce(values, stage, size()); }
  void reduce_sum(std::span<float> values, const char* stage, Compression /*no bytes travel*/) override {
    reduce(values, stage, 1);
  }
  void reduce_sum(std::span<double> values, const char* stage) override { reduce(values, stage, 1); }
  void broadcast(std::span<std::byte> bytes, int root, const char* stage) override;
  int agree_max(int value, const char* stage) override;
  std::vector<std::string> all_gather(const std::string& text, const char* stage) override;
  void set_timeout(double seconds) override {
    const std::lock_guard lock(group_.mutex_);
    group_.timeout_s_ = seconds;
  }
  void set_urgent(bool urgent) override { slot().is_urgent = urgent; }
  void cancel() override { group_.abort("rank " + std::to_string(rank_) + " gave up"); }

 private:
  void tell_busy(const std::string& what) override {
    const std::lock_guard lock(group_.mutex_);
    slot().busy_with = what;
    ++group_.notices_;
  }
  Slot& slot() { return group_.slots_[static_cast<size_t>(rank_)]; }
  void show(void* data, size_t count) {
    slot().data = data;
    slot().count = count;
  }
  template <class T>
  void reduce(std::span<T> values, const char* stage, int takers);
  /// Does `work` while all members expose their data.
  template <class Work>
  void with_all(const char* stage, const Work& work);

  LocalGroup& group_;
  int rank_;
};

template <class Work>
void LocalGroup::Member::with_all(const char* stage, const Work& work) {
  group_.meet(rank_, stage, Meeting::kOpens);
  try {
    work();
  } catch (...) {
    group_.end_work();
    throw;
  }
  group_.meet(rank_, stage, Meeting::kCloses);
}

/// Each member adds its slice of all arrays in rank order and writes the sum into the first `takers` of them.
template <class T>
void LocalGroup::Member::reduce(std::span<T> values, const char* stage, int takers) {
  show(values.data(), values.size());
  const RankPart slice = part_of_rank(values.size(), rank_, size());
  auto& slots = group_.slots_;
  const auto array = [&](int member) {
    return static_cast<T*>(slots[static_cast<size_t>(member)].data) + slice.begin;
  };
  with_all(stage, [&] {
    sum_in_rank_order<T>(size(), slice.size(), array, [&](size_t begin, std::span<const T> sums) {
      for (int member = 0; member < takers; ++member)
        std::copy(sums.begin(), sums.end(), array(member) + begin);
    });
  });
}

void LocalGroup::Member::broadcast(std::span<std::byte> bytes, int root, const char* stage) {
  show(bytes.data(), bytes.size());
  const Slot& source = group_.slots_[static_cast<size_t>(root)];
  with_all(stage, [&] {
    if (rank_ != root && !bytes.empty()) std::memcpy(bytes.data(), source.data, bytes.size());
  });
}

int LocalGroup::Member::agree_max(int value, const char* stage) {
  show(nullptr, 0);
  slot().value = value;
  int largest = value;
  with_all(stage, [&] {
    for (const Slot& other : group_.slots_) largest = std::max(largest, other.value);
  });
  return largest;
}

std::vector<std::string> LocalGroup::Member::all_gather(const std::string& text, const char* stage) {
  show(nullptr, 0);
  slot().text = &text;
  std::vector<std::string> all;
  with_all(stage, [&] {
    for (const Slot& other : group_.slots_) all.push_back(*other.text);
  });
  return all;
}

LocalGroup::LocalGroup(int size, double timeout_s)
    : slots_(static_cast<size_t>(size)), timeout_s_(timeout_s) {
  TPACK_ASSERT(size > 0, "a group has members");
}

LocalGroup::~LocalGroup() = default;

std::unique_ptr<Comm> LocalGroup::member(int rank) {
  TPACK_ASSERT(rank >= 0 && rank < size(), "no such member");
  return std::make_unique<Member>(*this, rank);
}

void LocalGroup::abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = reason;
  changed_.notify_all();
}

/// Spins for the milliseconds in which most meetings end.
void LocalGroup::stay_awake(const Slot& own, uint64_t turn) const {
  for (SpinThenYield wait; own.is_urgent && turns_.load(std::memory_order_acquire) == turn && wait.next();)
    continue;
}

/// Waits until the meeting is over or the group has failed; false after the time-out.
bool LocalGroup::wait(std::unique_lock<std::mutex>& lock, uint64_t turn) {
  const auto done = [&] { return turns_ != turn || !failure_.empty(); };
  if (timeout_s_ != kNoTimeout)
    return changed_.wait_for(lock, std::chrono::duration<double>(timeout_s_), done);
  changed_.wait(lock, done);
  return true;
}

void LocalGroup::meet(int rank, const char* stage, Meeting meeting) {
  std::unique_lock lock(mutex_);
  const auto who = [&] { return "rank " + std::to_string(rank) + ", " + stage + ": "; };
  if (meeting == Meeting::kCloses) --working_;
  if (!failure_.empty()) fail(lock, who());
  Slot& own = slots_[static_cast<size_t>(rank)];
  own.stage = stage;
  ++own.arrived;
  const uint64_t turn = turns_;
  if (++here_ == size()) {
    check_agreement(rank, stage);
    if (!failure_.empty()) fail(lock, who());
    if (meeting == Meeting::kOpens) working_ = size();
    here_ = 0;
    ++turns_;
    changed_.notify_all();
    return;
  }
  lock.unlock();
  stay_awake(own, turn);
  lock.lock();
  uint64_t notices = notices_;
  while (!wait(lock, turn)) {
    if (notices == notices_) require_busy(who(), missing(own.arrived));
    notices = notices_;
  }
  if (turns_ == turn) fail(lock, who());
}

/// Throws the failure of the group after all members have stopped reading the data of this one.
void LocalGroup::fail(std::unique_lock<std::mutex>& lock, const std::string& who) {
  changed_.notify_all();
  changed_.wait(lock, [this] { return working_ == 0; });
  throw DistributedError(who + failure_);
}

void LocalGroup::end_work() {
  const std::lock_guard lock(mutex_);
  --working_;
  changed_.notify_all();
}

/// With the lock, when members are late. A member that was just busy gets the full time again.
void LocalGroup::require_busy(const std::string& who, const std::vector<int>& late) {
  const std::string silent =
      unresponsive_ranks(who, late, [this](int rank) { return slots_[static_cast<size_t>(rank)].busy_with; });
  if (silent.empty()) return;
  failure_ = "no response from rank " + silent + " within " + shortest(timeout_s_) + " s";
}

/// Called by the last member, with the lock. A difference is a bug of the caller or another config on a
/// member.
void LocalGroup::check_agreement(int rank, const char* stage) {
  const Slot& own = slots_[static_cast<size_t>(rank)];
  for (size_t other = 0; other < slots_.size(); ++other) {
    if (std::strcmp(slots_[other].stage, stage) == 0 && slots_[other].count == own.count) continue;
    failure_ = "rank " + std::to_string(other) + " is at '" + slots_[other].stage + "' with " +
               std::to_string(slots_[other].count) + " elements, rank " + std::to_string(rank) + " at '" +
               stage + "' with " + std::to_string(own.count);
    return;
  }
}

/// The ranks with fewer meetings.
std::vector<int> LocalGroup::missing(uint64_t turn) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    if (slots_[static_cast<size_t>(rank)].arrived < turn) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace tpack
