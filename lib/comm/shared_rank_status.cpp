#include "comm/shared_rank_status.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {
namespace {

constexpr uint64_t kMagic = 0x7470'6163'6b31'0001;
constexpr std::string_view kAfter = "after ";

}  // namespace

struct SharedRankStatus::Header {
  uint64_t magic = kMagic;
  int32_t ranks = 0;
  std::atomic<int32_t> lost = -1;
  std::atomic<int32_t> interrupted = 0;
  std::atomic<int32_t> failed = -1;  // the rank whose failure follows
  std::atomic<bool> failure_is_there = false;
  int32_t exit_code = 0;
  std::array<char, 8192> failure_text = {};
};

struct SharedRankStatus::Slot {
  std::atomic<int32_t> pid = 0;
  std::atomic<bool> left = false;
  std::atomic<bool> failed = false;
  std::atomic<uint32_t> stages = 0;  // number of stages so far; the last one is texts[stages % 2]
  std::array<std::array<char, 64>, 2> texts = {};
};

size_t SharedRankStatus::bytes_for(int ranks) {
  return sizeof(Header) + static_cast<size_t>(ranks) * sizeof(Slot);
}

std::unique_ptr<SharedRankStatus> SharedRankStatus::create(int ranks) {
  static_assert(std::atomic<int32_t>::is_always_lock_free);
  const size_t bytes = bytes_for(ranks);
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::string name = std::string(folder) + "/tpack-ranks-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) continue;
    int failure = posix_fallocate(file, 0, static_cast<off_t>(bytes));
    void* memory =
        failure == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (failure == 0 && memory == MAP_FAILED) failure = errno;
    close(file);
    if (memory == MAP_FAILED) {
      unlink(name.c_str());
      errno = failure;
      continue;
    }
    auto* header = new (memory) Header;
    header->ranks = ranks;
    auto* slots = reinterpret_cast<std::byte*>(memory) + sizeof(Header);
    for (int rank = 0; rank < ranks; ++rank) new (slots + static_cast<size_t>(rank) * sizeof(Slot)) Slot;
    return std::unique_ptr<SharedRankStatus>(new SharedRankStatus(std::move(name), true, memory, bytes));
  }
  throw ResourceError("cannot make a file in /dev/shm or /tmp for what the ranks share: " +
                      std::string(std::strerror(errno)));
}

std::unique_ptr<SharedRankStatus> SharedRankStatus::open(int ranks) {
  const char* const name = std::getenv(kVariable);
  if (name == nullptr) return nullptr;
  const size_t bytes = bytes_for(ranks);
  const int file = ::open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status = {};
  const bool fits = fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) == bytes;
  void* memory = fits ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<SharedRankStatus> board(new SharedRankStatus(name, false, memory, bytes));
  if (board->header().magic != kMagic || board->ranks() != ranks) return nullptr;
  return board;
}

SharedRankStatus::SharedRankStatus(std::string name, bool owns, void* memory, size_t bytes)
    : name_(std::move(name)), owns_(owns), memory_(memory), bytes_(bytes) {}

SharedRankStatus::~SharedRankStatus() {
  munmap(memory_, bytes_);
  if (owns_) unlink(name_.c_str());
}

SharedRankStatus::Header& SharedRankStatus::header() const { return *static_cast<Header*>(memory_); }

SharedRankStatus::Slot& SharedRankStatus::slot(int rank) const {
  TPACK_ASSERT(rank >= 0 && rank < header().ranks, "no such rank");
  return reinterpret_cast<Slot*>(static_cast<std::byte*>(memory_) + sizeof(Header))[rank];
}

int SharedRankStatus::ranks() const { return header().ranks; }
void SharedRankStatus::enter(int rank) { slot(rank).pid = getpid(); }
void SharedRankStatus::leave(int rank) { slot(rank).left = true; }
pid_t SharedRankStatus::pid(int rank) const { return slot(rank).pid; }
bool SharedRankStatus::has_left(int rank) const { return slot(rank).left; }
bool SharedRankStatus::has_failed(int rank) const { return slot(rank).failed; }
int SharedRankStatus::lost() const { return header().lost; }
int SharedRankStatus::interrupted() const { return header().interrupted; }
void SharedRankStatus::set_interrupted(int signal) {
  int32_t none = 0;
  if (signal != 0)
    header().interrupted = signal;
  else
    header().interrupted.compare_exchange_strong(none, SIGTERM);
}

void SharedRankStatus::set_lost(int rank) {
  int32_t none = -1;
  header().lost.compare_exchange_strong(none, rank);
}

void SharedRankStatus::set_failure(int rank, int exit_code, std::string_view text) {
  slot(rank).failed = true;
  int32_t none = -1;
  if (!header().failed.compare_exchange_strong(none, rank)) return;
  header().exit_code = exit_code;
  text.copy(header().failure_text.data(), header().failure_text.size() - 1);
  header().failure_is_there = true;
}

std::optional<SharedRankStatus::RankFailure> SharedRankStatus::failure() const {
  if (!header().failure_is_there) return std::nullopt;
  return RankFailure{header().failed, header().exit_code, header().failure_text.data()};
}

void SharedRankStatus::set_stage(int rank, std::string_view stage, bool is_over) {
  Slot& own = slot(rank);
  const uint32_t next = own.stages + 1;
  std::array<char, 64>& text = own.texts[next % 2];
  text.fill(0);
  const size_t begin = is_over ? kAfter.copy(text.data(), kAfter.size()) : 0;
  stage.copy(text.data() + begin, text.size() - 1 - begin);
  own.stages = next;
}

std::string SharedRankStatus::stage(int rank) const {
  const Slot& of = slot(rank);
  std::array<char, 64> text = of.texts[of.stages % 2];
  text.back() = 0;
  return text.data();
}

}  // namespace tpack
