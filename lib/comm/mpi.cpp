#include "comm/mpi.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>
#include <numeric>
#include <optional>
#include <sched.h>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

#include "comm/mpi_notices.h"
#include "comm/mpi_sums.h"
#include "comm/shared_rank_status.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/spin_then_yield.h"
#include "core/text.h"

namespace tpack {
namespace {

// Arrays are broadcast in blocks: a bound for MPI's int counts.
constexpr size_t kBlockBytes = size_t{16} << 20U;

/// The result of polling for messages.
enum class Arrived { kNothing, kSome, kAll };

/// The pause between two polls for messages, because MPI cannot sleep until one arrives. The thread stays
/// awake for the first, urgent milliseconds, then sleeps for longer and longer, so that a waiting rank takes
/// no processor from computing ones.
class Pause {
 public:
  explicit Pause(const std::atomic<bool>& is_urgent) : is_urgent_(is_urgent) {}
  void operator()() {
    using std::chrono::microseconds;
    constexpr auto kMinLength = microseconds(20);
    constexpr auto kMaxLength = microseconds(500);
    if (is_urgent_ && !awake_) awake_.emplace();
    if (is_urgent_ && awake_->next()) return;
    sleep_ = std::clamp<std::chrono::steady_clock::duration>(sleep_ * 3 / 2, kMinLength, kMaxLength);
    const timespec pause = {0, std::chrono::nanoseconds(sleep_).count()};
    ::nanosleep(&pause, nullptr);
  }
  /// A message arrived, so more will arrive soon.
  void shorten() { sleep_ = {}; }

 private:
  const std::atomic<bool>& is_urgent_;
  std::optional<SpinThenYield> awake_;
  std::chrono::steady_clock::duration sleep_{0};
};

class MpiComm final : public Comm {
 public:
  explicit MpiComm(double timeout_s);
  ~MpiComm() override;
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void all_reduce_sum(std::span<float> values, const char* stage, Compression compression) override {
    all_reduce_one({values, stage, compression});
  }
  void all_reduce_sum(std::span<double> values, const char* stage) override {
    all_reduce_one({values, stage, Compression::kNone});
  }
  void all_reduce_sums(const std::function<std::optional<Sum>()>& next) override;
  void broadcast(std::span<std::byte> bytes, int root, const char* stage) override;
  int agree_max(int value, const char* stage) override;
  std::vector<std::string> all_gather(const std::string& text, const char* stage) override;
  void set_timeout(double seconds) override { timeout_s_ = seconds; }
  void set_urgent(bool urgent) override { is_urgent_ = urgent; }
  void cancel() override { cancelled_ = true; }
  void end_alone() override {
    agree_max(0, kEnd);
    ends_alone_ = true;
  }
  uint64_t bytes_sent() const override { return sums_->bytes_sent(); }

 private:
  using Clock = std::chrono::steady_clock;

  void tell_busy(const std::string& what) override;
  [[noreturn]] void fail(const char* stage, const std::string& text) {
    failed_ = true;
    throw DistributedError(who(stage) + text);
  }
  std::string who(const char* stage) const { return "rank " + std::to_string(rank_) + ", " + stage + ": "; }
  void check(int code, const char* stage) {
    if (code != MPI_SUCCESS) fail(stage, mpi_text(code));
  }
  void all_reduce_one(const Sum& sum);
  template <class Look>
  void wait(const char* stage, const Look& look);
  void complete(const char* stage);
  std::vector<std::string> all_gather_long(const std::string& text, const std::vector<int64_t>& lengths,
                                           const char* stage);
  void require_no_loss(const char* stage);
  template <class Look>
  void find_silent(const char* stage, const Look& look);
  void answer_before_the_end(const char* stage);
  [[noreturn]] void fail_of_stages(const char* stage);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm notices_comm_ = MPI_COMM_NULL;
  std::unique_ptr<MpiNotices> notices_;
  std::unique_ptr<SharedRankStatus> board_;  // null: no launcher watches this rank
  int rank_ = 0;
  int size_ = 1;
  double timeout_s_;
  bool failed_ = false;
  bool ends_alone_ = false;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> is_urgent_ = true;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of the current operation
  std::unique_ptr<MpiSums> sums_;
};

MpiComm::MpiComm(double timeout_s) : timeout_s_(timeout_s) {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) throw DistributedError("MPI is initialized twice");
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start of MPI");
  if (provided < MPI_THREAD_SERIALIZED) fail("start of MPI", "this MPI library does not support threads");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "start of MPI");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &notices_comm_), "start of MPI");
  MPI_Comm_set_errhandler(notices_comm_, MPI_ERRORS_RETURN);
  notices_ = std::make_unique<MpiNotices>(notices_comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  board_ = SharedRankStatus::open(size_);
  if (board_) board_->enter(rank_);
  sums_ = std::make_unique<MpiSums>(
      comm_, [this](const char* stage, const std::string& text) { fail(stage, text); });
}

MpiComm::~MpiComm() {
  if (failed_ || cancelled_) return;  // a peer may be gone: ending together would hang
  if (board_) board_->leave(rank_);
  if (ends_alone_) return;
  notices_->end();
  MPI_Comm_free(&notices_comm_);
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

/// The process that started the ranks notices at once when one ends.
void MpiComm::require_no_loss(const char* stage) {
  const int lost = board_ ? board_->lost() : -1;
  if (lost >= 0 && lost != rank_)
    fail(stage, "rank " + std::to_string(lost) + " has ended; it was at '" + board_->stage(lost) + "'");
}

/// Waits until `look` reports completion. The time-out restarts with every message.
template <class Look>
void MpiComm::wait(const char* stage, const Look& look) {
  constexpr auto kBetweenReadings = std::chrono::milliseconds(500);
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
  const auto checked_look = [&] {
    const Arrived arrived = look();
    if (arrived != Arrived::kAll && cancelled_) fail(stage, "given up");
    return arrived;
  };
  if (board_) board_->set_stage(rank_, stage);
  Pause pause(is_urgent_);
  auto now = Clock::now();
  auto end = now + patience;
  auto reading = std::min(end, now + kBetweenReadings);
  for (Arrived arrived = checked_look(); arrived != Arrived::kAll; arrived = checked_look()) {
    if (arrived == Arrived::kSome) {
      pause.shorten();
      end = Clock::now() + patience;
      continue;
    }
    pause();
    now = Clock::now();
    if (now < reading) continue;
    require_no_loss(stage);
    if (notices_->read(stage)) end = now + patience;
    if (now >= end) {
      find_silent(stage, checked_look);
      now = Clock::now();
      end = now + patience;
    }
    reading = std::min(end, now + kBetweenReadings);
  }
  if (board_) board_->set_stage(rank_, stage, true);
}

/// Waits for the MPI operation of `request_`.
void MpiComm::complete(const char* stage) {
  wait(stage, [&] {
    int done = 0;
    check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), stage);
    return done != 0 ? Arrived::kAll : Arrived::kNothing;
  });
}

/// When others are late: asks for their stage. Returns if all of them wait at the same stage, or are busy.
template <class Look>
void MpiComm::find_silent(const char* stage, const Look& look) {
  constexpr auto kTimeToAnswer = std::chrono::seconds(2);
  notices_->ask();
  const auto all_said = [&] {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != rank_ && !notices_->answer(rank) && notices_->busy(rank).empty()) return false;
    }
    return true;
  };
  const auto end = Clock::now() + kTimeToAnswer;
  for (Pause pause(is_urgent_); !all_said() && Clock::now() < end; pause()) {
    if (look() != Arrived::kNothing) return;
    notices_->read(stage);
  }
  std::vector<int> late;
  std::string elsewhere;
  for (int rank = 0; rank < size_; ++rank) {
    const auto& answer = notices_->answer(rank);
    if (rank == rank_) continue;
    if (!answer) late.push_back(rank);
    if (answer && *answer != stage)
      elsewhere += "; rank " + std::to_string(rank) + " is at '" + *answer + "'";
  }
  const std::string silent =
      unresponsive_ranks(who(stage), late, [this](int rank) { return notices_->busy(rank); });
  if (!silent.empty() || !elsewhere.empty()) answer_before_the_end(stage);
  if (!silent.empty())
    fail(stage, "no response from rank " + silent + " within " + shortest(timeout_s_) + " s" + elsewhere);
  if (!elsewhere.empty()) fail(stage, elsewhere.substr(2) + "; do all ranks run the same config?");
}

/// Others may time out a moment later, and also ask this rank.
void MpiComm::answer_before_the_end(const char* stage) {
  constexpr auto kMoment = std::chrono::milliseconds(100);
  const std::atomic<bool> is_urgent = false;
  const auto end = Clock::now() + kMoment;
  for (Pause pause(is_urgent); Clock::now() < end; pause()) notices_->read(stage);
}

/// Does not block: a peer reads it when it waits for this rank.
void MpiComm::tell_busy(const std::string& what) {
  notices_->read("");
  notices_->busy_with(what);
}

void MpiComm::all_reduce_sums(const std::function<std::optional<Sum>()>& next) {
  std::optional<Sum> sum = next();
  while (sum) {
    const char* const stage = sum->stage;
    // Sums of another stage wait until the current ones are done, because a rank waits at one stage.
    const auto advance = [&] {
      Arrived arrived = sums_->advance() ? Arrived::kSome : Arrived::kNothing;
      for (; sum && sums_->has_room() && std::string_view(sum->stage) == stage; sum = next()) {
        sums_->begin(*sum);
        arrived = Arrived::kSome;
      }
      if (!sum) sum = next();
      return sums_->is_done() ? Arrived::kAll : arrived;
    };
    wait(stage, advance);
  }
}

void MpiComm::all_reduce_one(const Sum& sum) {
  bool given = false;
  all_reduce_sums([&] { return std::exchange(given, true) ? std::nullopt : std::optional(sum); });
}

void MpiComm::broadcast(std::span<std::byte> bytes, int root, const char* stage) {
  for (size_t begin = 0; begin < bytes.size(); begin += kBlockBytes) {
    const auto block = bytes.subspan(begin, std::min(kBlockBytes, bytes.size() - begin));
    check(MPI_Ibcast(block.data(), static_cast<int>(block.size()), MPI_BYTE, root, comm_, &request_), stage);
    complete(stage);
  }
}

/// A single MPI reduction, with log2(ranks) messages in a row in each direction. The stage is sent with the
/// value as a number, from above and below.
int MpiComm::agree_max(int value, const char* stage) {
  notices_->read("");  // they would accumulate on a rank that never waits
  const auto number = static_cast<int64_t>(stable_hash(stage) >> 1U);
  std::array<int64_t, 3> vote = {value, number, -number};
  check(MPI_Iallreduce(MPI_IN_PLACE, vote.data(), static_cast<int>(vote.size()), MPI_INT64_T, MPI_MAX, comm_,
                       &request_),
        stage);
  complete(stage);
  if (vote[1] != number || vote[2] != -number) fail_of_stages(stage);
  return static_cast<int>(vote[0]);
}

/// All ranks call this when the stages of an agreement differ.
void MpiComm::fail_of_stages(const char* stage) {
  const std::vector<std::string> stages = all_gather(stage, stage);
  for (size_t rank = 0; rank < stages.size(); ++rank) {
    if (stages[rank] != stage) fail(stage, "rank " + std::to_string(rank) + " is at '" + stages[rank] + "'");
  }
  fail(stage, "the ranks are at different stages");
}

/// More than MPI can count.
std::vector<std::string> MpiComm::all_gather_long(const std::string& text,
                                                  const std::vector<int64_t>& lengths, const char* stage) {
  std::vector<std::string> all;
  for (size_t rank = 0; rank < lengths.size(); ++rank) {
    std::string one =
        static_cast<int>(rank) == rank_ ? text : std::string(static_cast<size_t>(lengths[rank]), '\0');
    broadcast(std::as_writable_bytes(std::span(one)), static_cast<int>(rank), stage);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> MpiComm::all_gather(const std::string& text, const char* stage) {
  const auto ranks = static_cast<size_t>(size_);
  const auto own = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(ranks);
  check(MPI_Iallgather(&own, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, comm_, &request_), stage);
  complete(stage);
  const int64_t length = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  if (length > std::numeric_limits<int>::max()) return all_gather_long(text, lengths, stage);
  const auto own_size = static_cast<int>(own);
  const std::vector<int> sizes(lengths.begin(), lengths.end());
  std::vector<int> begins(ranks);
  for (size_t rank = 1; rank < ranks; ++rank) begins[rank] = begins[rank - 1] + sizes[rank - 1];
  std::string joined(static_cast<size_t>(length), '\0');
  check(MPI_Iallgatherv(text.data(), own_size, MPI_CHAR, joined.data(), sizes.data(), begins.data(), MPI_CHAR,
                        comm_, &request_),
        stage);
  complete(stage);
  std::vector<std::string> all;
  for (size_t rank = 0; rank < ranks; ++rank)
    all.push_back(joined.substr(static_cast<size_t>(begins[rank]), static_cast<size_t>(sizes[rank])));
  return all;
}

}  // namespace

void require_mpi() {}

std::unique_ptr<Comm> make_mpi_comm(double timeout_s) { return std::make_unique<MpiComm>(timeout_s); }

// mpirun ends all others when one ends with an error. Not MPI_Abort: mpirun of Open MPI 4.1 then sometimes
// hangs or crashes (5 of 40 times with busy processors), also if two ranks end at the same time. So rank 0
// ends first; the others follow in turn if it has no reason to.
void abort_world(int exit_code) {
  int started = 0;
  MPI_Initialized(&started);
  int rank = 0;
  if (started != 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  using Clock = std::chrono::steady_clock;
  constexpr int kLastTurn = 8;
  const auto turn = Clock::now() + std::min(rank, kLastTurn) * std::chrono::milliseconds(500);
  while (Clock::now() < turn) ::sched_yield();
  std::_Exit(exit_code);
}

}  // namespace tpack
