#include "cli/launch_ranks.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/signals.h"
#include "comm/mpi.h"
#include "comm/shared_rank_status.h"
#include "comm/world.h"
#include "core/clock.h"
#include "core/error.h"
#include "parallel/tower_threads.h"
#include "system/dependent_process.h"
#include "system/machine.h"

namespace tpack {
namespace {

constexpr auto kDistributedCode = static_cast<int>(ErrorKind::kDistributed);
constexpr int kSecondsToEnd = 10;  // for the others when a rank was lost

/// Watches processes of others; a descriptor becomes readable when one ends.
class RankWatch {
 public:
  explicit RankWatch(SharedRankStatus& board) : board_(board) {}
  ~RankWatch() {
    for (const auto& [rank, descriptor] : descriptors_) close(descriptor);
  }
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Looks for ranks that have entered, and for those that have ended. Tells the others of the first one that
  /// ended before its time.
  void look() {
    for (int rank = 0; rank < board_.ranks(); ++rank) {
      if (descriptors_.contains(rank) || board_.pid(rank) == 0) continue;
      const auto opened = static_cast<int>(syscall(SYS_pidfd_open, board_.pid(rank), 0));
      if (opened >= 0 || errno == ESRCH) descriptors_[rank] = opened;
      if (opened < 0 && errno == ESRCH) ended(rank);
    }
    for (const auto& [rank, descriptor] : descriptors_) {
      pollfd one = {descriptor, POLLIN, 0};
      if (descriptor >= 0 && poll(&one, 1, 0) > 0) ended(rank);
    }
  }
  /// To those that have not ended; `info`: who is said to have sent it, null for this process.
  void signal_all(int number, siginfo_t* info = nullptr) const {
    for (const auto& [rank, descriptor] : descriptors_) {
      if (descriptor >= 0) syscall(SYS_pidfd_send_signal, descriptor, number, info, 0);
    }
  }
  /// Until all that were seen have ended, one after the other, each for at most so long.
  void wait_for_all(int most_ms) {
    for (const auto& [rank, descriptor] : descriptors_) {
      pollfd one = {descriptor, POLLIN, 0};
      if (descriptor >= 0) poll(&one, 1, most_ms);
    }
  }
  bool any() const { return !descriptors_.empty(); }
  bool all_seen() const { return descriptors_.size() == static_cast<size_t>(board_.ranks()); }
  bool all_ended() const { return ended_.size() == static_cast<size_t>(board_.ranks()); }

 private:
  void ended(int rank) {
    ended_.insert(rank);
    if (!board_.has_left(rank)) board_.set_lost(rank);
  }

  SharedRankStatus& board_;
  std::map<int, int> descriptors_;  // by rank; -1 for one that had ended before
  std::set<int> ended_;
};

/// "was killed by signal 9 (Killed)", "has ended with exit code 3".
std::string how_it_ended(int code) {
  if (code <= 128) return "has ended with exit code " + std::to_string(code);
  return "was killed by signal " + std::to_string(code - 128) + " (" + strsignal(code - 128) + ")";
}

/// What ended a run whose mpirun has failed. A rank that says that it has lost another one is not the cause,
/// where that one has ended without saying why.
Failure cause_of_end(int mpirun_code, const SharedRankStatus& board) {
  constexpr int kLastOfOurs = 8;
  const int lost = board.lost();
  const auto failure = board.failure();
  const bool is_consequence =
      failure && failure->exit_code == kDistributedCode && lost >= 0 && !board.has_failed(lost);
  if (failure && !is_consequence) return {failure->exit_code, failure->text};
  const int code = mpirun_code > 0 && mpirun_code <= kLastOfOurs ? mpirun_code : kDistributedCode;
  if (lost < 0) return {code, "mpirun " + how_it_ended(mpirun_code) + ", and the ranks with it"};
  const std::string how = mpirun_code > 128 ? how_it_ended(mpirun_code) : "has ended";
  std::string text = "rank " + std::to_string(lost) + " " + how + " at '" + board.stage(lost) + "'";
  const char* separator = "; ";
  for (int rank = 0; rank < board.ranks(); ++rank) {
    if (rank == lost) continue;
    text += separator + ("rank " + std::to_string(rank)) + " was at '" + board.stage(rank) + "'";
    separator = ", ";
  }
  return {code, text};
}

/// True once all ranks have ended by an interrupt: whoever got the signal, all of them learned of it.
bool all_ended_alone(const RankWatch& watch, const SharedRankStatus& board) {
  if (!watch.all_ended()) return false;
  for (int rank = 0; rank < board.ranks(); ++rank)
    if (!board.has_left(rank) || board.stage(rank) != SharedRankStatus::after(Comm::kEnd)) return false;
  return true;
}

/// The command line; also sets what it takes from the environment.
std::vector<std::string> command_of_mpirun(int ranks, const std::vector<std::string>& command,
                                           const SharedRankStatus& board) {
  setenv(SharedRankStatus::kVariable, board.name().c_str(), 1);
  if (geteuid() == 0) {  // whoever runs tpack as root has decided that
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  // Ranks bind themselves: mpirun binds by rules that depend on their number and on the machine.
  std::vector<std::string> words = {"mpirun",
                                    "--bind-to",
                                    "none",
                                    "-n",
                                    std::to_string(ranks),
                                    "--oversubscribe",
                                    "--quiet",
                                    "-x",
                                    SharedRankStatus::kVariable};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Errors: ResourceError if no rank has begun.
void require_start(const RankWatch& watch, int mpirun_code) {
  if (watch.any() || mpirun_code == 0) return;
  if (mpirun_code == DependentProcess::kNotFound) {
    throw ResourceError(
        "mpirun was not found (or ended with exit code 127); install Open MPI (Debian: openmpi-bin), "
        "or train without --procs");
  }
  throw ResourceError("mpirun has not started any rank (its exit code was " + std::to_string(mpirun_code) +
                      ")");
}

int reported(const Failure& failure) {
  report(failure);
  return failure.exit_code;
}

/// The exit code of a run that a signal has ended; says what the ranks have not. Those that train already
/// miss one that the signal has ended before it did.
int end_of_interrupted(int signal, const SharedRankStatus& board) {
  const auto failure = board.failure();
  const bool all_trained = board.have_begun_training();
  if (failure && (all_trained || failure->exit_code != kDistributedCode))
    return reported({failure->exit_code, failure->text});
  if (all_trained) return 128 + signal;
  return reported({128 + signal, "interrupted before training began; nothing was trained"});
}

}  // namespace

int launch_ranks(int ranks, const std::vector<std::string>& command) {
  if (started_by_mpirun()) throw ConfigError("--procs starts mpirun itself; leave one of them out");
  require_mpi();
  const auto board = SharedRankStatus::create(ranks);
  const std::vector<std::string> words = command_of_mpirun(ranks, command, *board);
  SignalWatcher signals({.next = "the ranks are told"});
  signals.expect_orderly_end();
  // If this process is killed, mpirun ends, and the ranks with it.
  DependentProcess mpirun({.program = words[0], .words = words, .may_be_left = true});
  const int wake = eventfd(0, EFD_CLOEXEC);
  const std::stop_callback on_signal(signals.stop_token(), [wake] {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake, &one, sizeof one);
  });
  RankWatch watch(*board);
  std::optional<int> code;
  std::optional<Stopwatch> ending;  // since the ranks were told, or one was lost
  while (!mpirun.has_ended()) {
    watch.look();
    if (!ending && (signals.signal() != 0 || board->lost() >= 0)) {
      ending.emplace();
      // Not through mpirun, which would kill them after a second: they finish the step, and rank 0 saves.
      siginfo_t passed_on = passing_on(signals.signal());
      if (signals.signal() != 0) watch.signal_all(SIGTERM, &passed_on);
      if (signals.signal() != 0 && !watch.all_seen()) mpirun.signal(SIGTERM);  // nothing was trained yet
    }
    if (const int number = SignalWatcher::take_save_request(); number != 0)
      mpirun.signal(number);  // which passes it on
    // mpirun itself lingers for seconds after ranks that ended by a signal.
    if (all_ended_alone(watch, *board)) break;
    if (board->lost() >= 0 && ending->seconds() > kSecondsToEnd) {
      watch.signal_all(SIGKILL);
      mpirun.signal(SIGKILL);
    }
    constexpr int kBetweenLooksMs = 50;
    pollfd woken = {ending ? -1 : wake, POLLIN, 0};
    poll(&woken, 1, kBetweenLooksMs);
  }
  if (mpirun.has_ended())
    code = mpirun.wait();
  else
    mpirun.leave();
  watch.look();
  if (code && *code != 0) {  // mpirun has told those that were left to end
    constexpr int kMaxMs = 1000;
    watch.wait_for_all(kMaxMs);
    watch.signal_all(SIGKILL);
    watch.wait_for_all(kMaxMs);
  }
  close(wake);
  if (code == 0) return 0;  // the run was over before the signal
  if (signals.signal() == 0 && !all_ended_alone(watch, *board)) {
    require_start(watch, *code);
    return reported(cause_of_end(*code, *board));
  }
  return end_of_interrupted(signals.signal() != 0 ? signals.signal() : SIGTERM, *board);
}

bool started_by_procs() { return std::getenv(SharedRankStatus::kVariable) != nullptr && started_by_mpirun(); }

bool hand_to_launcher(int rank, int ranks, const Failure& failure) {
  const auto board = SharedRankStatus::open(ranks);
  if (!board) return false;
  board->set_failure(rank, failure.exit_code, failure.text);
  return true;
}

void tell_launcher_of_training(int rank, int ranks) {
  if (const auto board = SharedRankStatus::open(ranks)) board->begin_training(rank);
}

void bind_launched_rank() {
  const char* const rank_text = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* const size_text = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (std::getenv(SharedRankStatus::kVariable) == nullptr || rank_text == nullptr || size_text == nullptr)
    return;
  const auto rank = static_cast<size_t>(std::strtoul(rank_text, nullptr, 10));
  const auto ranks = static_cast<size_t>(std::strtoul(size_text, nullptr, 10));
  const std::vector<int> all = allowed_cpus();
  const size_t parts = std::min(ranks, all.size());
  bind_this_thread(divide_processors(all, parts).at(rank % parts), "");
}

}  // namespace tpack
