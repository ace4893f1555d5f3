#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace tpack {

/// Messages between ranks outside of collective operations: that a rank is busy, and where it waits. No rank
/// waits for these messages; it reads them while it waits for something else. Threads: one at a time.
class MpiNotices {
 public:
  /// Uses a separate communicator.
  explicit MpiNotices(MPI_Comm all);
  /// All ranks must call this; no message may be in progress.
  void end();

  /// Tells all others that this rank is busy from now on; "": it is back.
  void busy_with(const std::string& what);
  /// Asks all others where they wait. Waiting ranks answer within about a second.
  void ask();
  /// Reads new messages. `waits_at`: the stage where this rank waits, sent as the answer to questions. True
  /// if a rank reported that it is busy, or back.
  bool read(const std::string& waits_at);

  /// The activity of another rank; "" if it is not busy.
  const std::string& busy(int rank) const { return busy_[static_cast<size_t>(rank)]; }
  /// Where another rank waits, if it has answered the last question.
  const std::optional<std::string>& answer(int rank) const { return answers_[static_cast<size_t>(rank)]; }

 private:
  enum class Kind : int32_t { kBusy, kQuestion, kAnswer };
  struct Notice {
    Kind kind = Kind::kBusy;
    char text[92] = {};  // its beginning
  };
  struct Sent {
    Notice notice;
    std::vector<MPI_Request> requests;
  };

  void send(Kind kind, const std::string& text, const std::vector<int>& to);
  void forget_what_has_arrived();
  std::vector<int> others() const;

  MPI_Comm all_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<std::string> busy_;                    // by rank
  std::vector<std::optional<std::string>> answers_;  // by rank
  std::list<Sent> sent_;                             // in progress; their addresses must not change
};

}  // namespace tpack
