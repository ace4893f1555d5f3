#include "cli/launch_ranks.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
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
constexpr int kSecondsToEnd = 10;  // for the others after a rank was lost

/// Watches other processes; a descriptor becomes readable when one ends.
class RankWatch {
 public:
  explicit RankWatch(SharedRankStatus& board) : board_(board) {}
  ~RankWatch() {
    for (const auto& [rank, descriptor] : descriptors_) close(descriptor);
  }
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Finds ranks that have entered or ended. Tells the others about the first one that ended early.
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
  /// Sends a signal to ranks that have not ended.
  void signal_all(int number) const {
    for (const auto& [rank, descriptor] : descriptors_) {
      if (descriptor >= 0) syscall(SYS_pidfd_send_signal, descriptor, number, nullptr, 0);
    }
  }
  /// Returns after all known ranks have ended; kills those that do not end within a second.
  void end_all() {
    constexpr int kMaxMs = 1000;
    for (const bool is_killed : {false, true}) {
      if (is_killed) signal_all(SIGKILL);
      for (const auto& [rank, descriptor] : descriptors_) {
        pollfd one = {descriptor, POLLIN, 0};
        if (descriptor >= 0) poll(&one, 1, kMaxMs);
      }
    }
  }
  bool any() const { return !descriptors_.empty(); }
  bool all_seen() const { return descriptors_.size() == static_cast<size_t>(board_.ranks()); }

 private:
  void ended(int rank) {
    if (!board_.has_left(rank)) board_.set_lost(rank);
  }

  SharedRankStatus& board_;
  std::map<int, int> descriptors_;  // by rank; -1 for one that had already ended
};

/// "was killed by signal 9 (Killed)", "has ended with exit code 3".
std::string how_it_ended(int code) {
  if (code <= 128) return "has ended with exit code " + std::to_string(code);
  return "was killed by signal " + std::to_string(code - 128) + " (" + strsignal(code - 128) + ")";
}

/// The cause of a run whose mpirun failed. A rank that reports a lost rank is not the cause if that rank
/// ended without a reason.
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

/// The command line; also sets its environment.
std::vector<std::string> command_of_mpirun(int ranks, const std::vector<std::string>& command,
                                           const SharedRankStatus& board) {
  setenv(SharedRankStatus::kVariable, board.name().c_str(), 1);
  if (geteuid() == 0) {  // the user already decided to run tpack as root
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

/// The exit code of the run; reports what the ranks did not report.
int outcome(int mpirun_code, int signal, const RankWatch& watch, const SharedRankStatus& board) {
  const auto failure = board.failure();
  const int interrupted = board.interrupted();
  // Ranks that a signal ends before training report nothing; others may already miss them.
  const bool is_lost = !failure || failure->exit_code == kDistributedCode;
  if (signal != 0 && interrupted == 0 && is_lost && mpirun_code != 0)
    return reported({128 + signal, "interrupted, but the ranks ended before they saved a checkpoint" +
                                       (failure ? ": " + failure->text : std::string())});
  if (interrupted != 0 && !failure) return 128 + (signal != 0 ? signal : interrupted);
  if (mpirun_code == 0) return 0;  // the run was over before the signal
  require_start(watch, mpirun_code);
  return reported(cause_of_end(mpirun_code, board));
}

}  // namespace

int launch_ranks(int ranks, const std::vector<std::string>& command) {
  if (started_by_mpirun()) throw ConfigError("--procs starts mpirun itself; remove one of them");
  require_mpi();
  const auto board = SharedRankStatus::create(ranks);
  const std::vector<std::string> words = command_of_mpirun(ranks, command, *board);
  SignalWatcher signals({.next = "the ranks are told"});
  signals.expect_orderly_end();
  // If this process is killed, mpirun ends, and the ranks with it.
  DependentProcess mpirun({.program = words[0], .words = words});
  RankWatch watch(*board);
  std::optional<Stopwatch> ending;  // since the ranks got the signal, or one was lost
  while (!mpirun.has_ended()) {
    watch.look();
    if (!ending && (signals.signal() != 0 || board->lost() >= 0)) {
      ending.emplace();
      // Not through mpirun, which would kill them after a second: they finish the step, and rank 0 saves.
      if (signals.signal() != 0) watch.signal_all(signals.signal());
      if (signals.signal() != 0 && !watch.all_seen()) mpirun.signal(SIGTERM);  // nothing was trained yet
    }
    // Not through mpirun either: Open MPI 4.1.4 loses the first one.
    if (const int number = SignalWatcher::take_save_request(); number != 0) watch.signal_all(number);
    if (board->lost() >= 0 && ending->seconds() > kSecondsToEnd) {
      watch.signal_all(SIGKILL);
      mpirun.signal(SIGKILL);
    }
    constexpr int kBetweenLooksMs = 50;
    pollfd end = {mpirun.descriptor(), POLLIN, 0};
    poll(&end, 1, kBetweenLooksMs);
  }
  const int code = mpirun.wait();
  watch.look();
  if (code != 0) watch.end_all();  // mpirun has already sent it to the remaining ones
  return outcome(code, signals.signal(), watch, *board);
}

bool started_by_procs() { return std::getenv(SharedRankStatus::kVariable) != nullptr && started_by_mpirun(); }

bool hand_to_launcher(int rank, int ranks, const Failure& failure) {
  const auto board = SharedRankStatus::open(ranks);
  if (!board) return false;
  board->set_failure(rank, failure.exit_code, failure.text);
  return true;
}

bool tell_launcher_of_interrupt(int ranks, int signal) {
  const auto board = SharedRankStatus::open(ranks);
  if (board) board->set_interrupted(signal);
  return board != nullptr;
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
