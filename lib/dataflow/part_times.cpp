#include "dataflow/part_times.h"

#include <algorithm>
#include <numeric>

#include "dataflow/datapoint.h"

namespace tpack {
namespace {

constinit thread_local WorkClock* t_clock = nullptr;

}  // namespace

const std::string kDecodingPart = "decoding";

double PartTimes::Totals::seconds() const {
  return std::accumulate(parts.begin(), parts.end(), rest_s,
                         [](double sum, const auto& part) { return sum + part.second.seconds; });
}

PartTimes::Totals PartTimes::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void PartTimes::reset() {
  const std::lock_guard lock(mutex_);
  totals_ = {};
}

WorkClock::WorkClock(PartTimes* into) : into_(into) {
  if (into_ == nullptr) return;
  outer_ = t_clock;
  t_clock = this;
  last_ = Clock::now();
}

WorkClock::~WorkClock() {
  if (into_ == nullptr) return;
  account();
  t_clock = outer_;
  const std::lock_guard lock(into_->mutex_);
  into_->totals_.rest_s += rest_s_;
  into_->totals_.samples += samples_;
  for (const Entry& entry : entries_) {
    PartTime& time = into_->totals_.parts[*entry.part];
    time.seconds += entry.time.seconds;
    time.items += entry.time.items;
    time.bytes += entry.time.bytes;
  }
}

void WorkClock::account() {
  const Clock::time_point now = Clock::now();
  (running_.empty() ? rest_s_ : entries_[running_.back()].time.seconds) +=
      std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

void WorkClock::enter(const std::string& part) {
  account();
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&part](const Entry& entry) { return entry.part == &part; });
  running_.push_back(static_cast<size_t>(found - entries_.begin()));
  if (found == entries_.end()) entries_.push_back({&part, {}});
}

void WorkClock::leave(const Datapoint* made) {
  account();
  PartTime& time = entries_[running_.back()].time;
  running_.pop_back();
  if (made == nullptr) return;
  ++time.items;
  time.bytes += made->bytes();
  last_ = Clock::now();  // the size costs the part nothing
}

PartTimer::PartTimer(const std::string& part, const Datapoint* made) : clock_(t_clock), made_(made) {
  if (clock_ != nullptr) clock_->enter(part);
}

PartTimer::~PartTimer() {
  if (clock_ != nullptr) clock_->leave(made_);
}

}  // namespace tpack
