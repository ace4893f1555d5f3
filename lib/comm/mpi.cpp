#include "comm/mpi.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <list>
#include <sched.h>
#include <vector>

#include <mpi.h>

#include "comm/fixed_order_sum.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

// Arrays are reduced in blocks: a bound for the scratch memory and for MPI's int counts.
constexpr size_t kBlockBytes = size_t{16} << 20U;
constexpr int kTag = 1;

std::string mpi_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<size_t>(length)};
}

class MpiComm final : public Comm {
 public:
  explicit MpiComm(double timeout_s);
  ~MpiComm() override;
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void all_reduce_sum(std::span<float> values, const char* stage) override { reduce(values, stage); }
  void all_reduce_sum(std::span<double> values, const char* stage) override { reduce(values, stage); }
  void broadcast(std::span<std::byte> bytes, int root, const char* stage) override;
  int agree_max(int value, const char* stage) override;
  std::vector<std::string> all_gather(const std::string& text, const char* stage) override;
  void set_timeout(double seconds) override { timeout_s_ = seconds; }
  void busy_with(const std::string& what) override;

 private:
  [[noreturn]] void fail(const char* stage, const std::string& text) {
    failed_ = true;
    throw DistributedError(who(stage) + text);
  }
  std::string who(const char* stage) const { return "rank " + std::to_string(rank_) + ", " + stage + ": "; }
  void check(int code, const char* stage) {
    if (code != MPI_SUCCESS) fail(stage, mpi_text(code));
  }
  void send(const void* data, size_t bytes, int to, const char* stage);
  void receive(void* data, size_t bytes, int from, const char* stage);
  void complete(const char* stage);
  bool take_notices();
  void forget_sent_notices();
  void require_busy(const char* stage);
  std::vector<int> silent_peers() const;
  void check_sizes(const char* stage);
  template <class T>
  void reduce(std::span<T> values, const char* stage);
  template <class T>
  void reduce_block(std::span<T> block, const char* stage);
  template <class T>
  void gather_own_slice(std::span<T> block, const char* stage);
  template <class T>
  void share_sums(std::span<T> block, const char* stage);

  /// What agree_max sends: messages of one size that belong to different stages must not pass for another.
  struct Vote {
    int32_t value = 0;
    char stage[28] = {};  // its beginning
  };
  /// What busy_with sends, on a communicator of its own: no rank waits for it.
  struct Notice {
    char what[96] = {};  // its beginning
  };
  struct SentNotice {
    Notice notice;
    std::vector<MPI_Request> requests;
  };
  struct Transfer {
    int peer = 0;
    int received_bytes = -1;  // that must come; -1: a sent message
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm notices_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  double timeout_s_;
  bool failed_ = false;
  std::vector<std::byte> scratch_;     // what the others send of this rank's slice
  Vote own_vote_;                      // that is being sent
  std::vector<Vote> votes_;            // of agree_max, by rank
  std::vector<MPI_Request> requests_;  // under way
  std::vector<Transfer> transfers_;    // what each request is
  std::vector<MPI_Status> statuses_;
  std::vector<std::string> busy_;  // what the others are busy with, by rank
  std::list<SentNotice> sent_;     // that may be under way; their addresses stay
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
  check(MPI_Comm_dup(MPI_COMM_WORLD, &notices_), "start of MPI");
  MPI_Comm_set_errhandler(notices_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  const auto ranks = static_cast<size_t>(size_);
  votes_.resize(ranks);
  requests_.reserve(2 * ranks);
  transfers_.reserve(2 * ranks);
  statuses_.resize(2 * ranks);
  busy_.resize(ranks);
}

MpiComm::~MpiComm() {
  if (failed_) return;  // a peer may be gone: ending together would hang
  MPI_Barrier(notices_);
  take_notices();  // nothing is to be under way
  for (SentNotice& sent : sent_)
    MPI_Waitall(static_cast<int>(sent.requests.size()), sent.requests.data(), MPI_STATUSES_IGNORE);
  MPI_Comm_free(&notices_);
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

void MpiComm::send(const void* data, size_t bytes, int to, const char* stage) {
  requests_.push_back(MPI_REQUEST_NULL);
  transfers_.push_back({to});
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kTag, comm_, &requests_.back()), stage);
}

void MpiComm::receive(void* data, size_t bytes, int from, const char* stage) {
  requests_.push_back(MPI_REQUEST_NULL);
  transfers_.push_back({from, static_cast<int>(bytes)});
  check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kTag, comm_, &requests_.back()), stage);
}

/// Waits for all messages under way. Lets other threads run between two looks: ranks may share a processor.
void MpiComm::complete(const char* stage) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kBetweenLooks = std::chrono::seconds(1);
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
  auto now = Clock::now();
  auto end = now + patience;
  auto look = std::min(end, now + kBetweenLooks);
  for (int done = 0; done == 0; ::sched_yield()) {
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses_.data()), stage);
    now = Clock::now();
    if (done != 0 || now < look) continue;
    if (take_notices()) {
      end = now + patience;
    } else if (now >= end) {
      require_busy(stage);
      end = now + patience;
    }
    look = std::min(end, now + kBetweenLooks);
  }
  check_sizes(stage);
  requests_.clear();
  transfers_.clear();
}

/// Does not block: a peer looks for it when it waits for this rank.
void MpiComm::busy_with(const std::string& what) {
  take_notices();
  forget_sent_notices();
  SentNotice& sent = sent_.emplace_back();
  what.copy(sent.notice.what, sizeof sent.notice.what - 1);
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    MPI_Isend(&sent.notice, sizeof sent.notice, MPI_BYTE, other, kTag, notices_,
              &sent.requests.emplace_back(MPI_REQUEST_NULL));
  }
}

void MpiComm::forget_sent_notices() {
  sent_.remove_if([](SentNotice& sent) {
    int done = 0;
    MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

/// Reads what the others are busy with; true if one of them had something to say.
bool MpiComm::take_notices() {
  for (bool any = false;; any = true) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, notices_, &there, &status);
    if (there == 0) return any;
    Notice notice;
    MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, kTag, notices_, MPI_STATUS_IGNORE);
    busy_[static_cast<size_t>(status.MPI_SOURCE)] = notice.what;
  }
}

/// When others have not answered in time.
void MpiComm::require_busy(const char* stage) {
  const std::string silent =
      silent_ranks(who(stage), silent_peers(), [this](int rank) { return busy_[static_cast<size_t>(rank)]; });
  if (!silent.empty())
    fail(stage, "no response from rank " + silent + " within " + shortest(timeout_s_) + " s");
}

/// Those whose messages have not come; if all came, those that have not taken ours.
std::vector<int> MpiComm::silent_peers() const {
  std::vector<int> silent;
  for (const bool received : {true, false}) {
    for (size_t i = 0; i < requests_.size(); ++i) {
      int done = 0;  // Testall leaves the requests as they are until all are complete
      MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
      const int peer = transfers_[i].peer;
      const bool is_new = std::find(silent.begin(), silent.end(), peer) == silent.end();
      if (done == 0 && is_new && (transfers_[i].received_bytes >= 0) == received) silent.push_back(peer);
    }
    if (!silent.empty()) break;
  }
  return silent;
}

/// A shorter message than expected is no error to MPI; it means that the ranks disagree.
void MpiComm::check_sizes(const char* stage) {
  for (size_t i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[i];
    if (transfer.received_bytes < 0) continue;
    int bytes = 0;
    MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
    if (bytes == transfer.received_bytes) continue;
    fail(stage, "rank " + std::to_string(transfer.peer) + " sent " + std::to_string(bytes) +
                    " bytes, expected " + std::to_string(transfer.received_bytes) +
                    "; do all ranks run the same config?");
  }
}

template <class T>
void MpiComm::reduce(std::span<T> values, const char* stage) {
  constexpr size_t kBlock = kBlockBytes / sizeof(T);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    reduce_block(values.subspan(begin, std::min(kBlock, values.size() - begin)), stage);
  }
}

/// Every rank gets all versions of its slice, adds them in rank order, and gives the sum to all.
template <class T>
void MpiComm::reduce_block(std::span<T> block, const char* stage) {
  gather_own_slice(block, stage);
  const RankPart own = part_of_rank(block.size(), rank_, size_);
  const auto* others = reinterpret_cast<const T*>(scratch_.data());
  const auto array = [&](int other) -> const T* {
    if (other == rank_) return block.data() + own.begin;
    return others + static_cast<size_t>(other < rank_ ? other : other - 1) * own.size();
  };
  sum_in_rank_order<T>(size_, own.size(), array, [&](size_t begin, std::span<const T> sums) {
    std::copy(sums.begin(), sums.end(), block.begin() + static_cast<std::ptrdiff_t>(own.begin + begin));
  });
  share_sums(block, stage);
}

template <class T>
void MpiComm::gather_own_slice(std::span<T> block, const char* stage) {
  const RankPart own = part_of_rank(block.size(), rank_, size_);
  const size_t bytes = own.size() * sizeof(T);
  if (scratch_.size() < bytes * static_cast<size_t>(size_ - 1))
    scratch_.resize(bytes * static_cast<size_t>(size_ - 1));
  size_t place = 0;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    receive(scratch_.data() + bytes * place++, bytes, other, stage);
  }
  for (int other = 0; other < size_; ++other) {
    const RankPart theirs = part_of_rank(block.size(), other, size_);
    if (other != rank_) send(block.data() + theirs.begin, theirs.size() * sizeof(T), other, stage);
  }
  complete(stage);
}

template <class T>
void MpiComm::share_sums(std::span<T> block, const char* stage) {
  const RankPart own = part_of_rank(block.size(), rank_, size_);
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    const RankPart theirs = part_of_rank(block.size(), other, size_);
    receive(block.data() + theirs.begin, theirs.size() * sizeof(T), other, stage);
    send(block.data() + own.begin, own.size() * sizeof(T), other, stage);
  }
  complete(stage);
}

void MpiComm::broadcast(std::span<std::byte> bytes, int root, const char* stage) {
  for (size_t begin = 0; begin < bytes.size(); begin += kBlockBytes) {
    const auto block = bytes.subspan(begin, std::min(kBlockBytes, bytes.size() - begin));
    requests_.push_back(MPI_REQUEST_NULL);
    transfers_.push_back({root});
    check(MPI_Ibcast(block.data(), static_cast<int>(block.size()), MPI_BYTE, root, comm_, &requests_.back()),
          stage);
    complete(stage);
  }
}

int MpiComm::agree_max(int value, const char* stage) {
  take_notices();  // they would pile up on a rank that never waits
  own_vote_ = {.value = value};
  std::string_view(stage).copy(own_vote_.stage, sizeof own_vote_.stage - 1);
  std::fill(votes_.begin(), votes_.end(), own_vote_);
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    receive(&votes_[static_cast<size_t>(other)], sizeof(Vote), other, stage);
    send(&own_vote_, sizeof own_vote_, other, stage);
  }
  complete(stage);
  int largest = value;
  for (size_t other = 0; other < votes_.size(); ++other) {
    const Vote& vote = votes_[other];
    if (std::memcmp(vote.stage, own_vote_.stage, sizeof vote.stage) != 0)
      fail(stage, "rank " + std::to_string(other) + " is at '" + vote.stage + "'");
    largest = std::max(largest, static_cast<int>(vote.value));
  }
  return largest;
}

std::vector<std::string> MpiComm::all_gather(const std::string& text, const char* stage) {
  const auto own_size = static_cast<uint64_t>(text.size());
  std::vector<uint64_t> sizes(static_cast<size_t>(size_), own_size);
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    receive(&sizes[static_cast<size_t>(other)], sizeof own_size, other, stage);
    send(&own_size, sizeof own_size, other, stage);
  }
  complete(stage);
  std::vector<std::string> all(static_cast<size_t>(size_), text);
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    std::string& theirs = all[static_cast<size_t>(other)];
    theirs.assign(sizes[static_cast<size_t>(other)], '\0');
    receive(theirs.data(), theirs.size(), other, stage);
    send(text.data(), text.size(), other, stage);
  }
  complete(stage);
  return all;
}

}  // namespace

std::unique_ptr<Comm> make_mpi_comm(double timeout_s) { return std::make_unique<MpiComm>(timeout_s); }

// mpirun ends all others when one ends with an error. Not MPI_Abort: mpirun of Open MPI 4.1 then hangs or
// crashes now and then (5 of 40 times with busy processors), and so it does where two end in one moment. So
// rank 0 goes first; the others follow in turn if it has no reason to.
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
