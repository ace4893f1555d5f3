#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace tpack {

/// What ranks tell each other beside their collective work: that one is busy, where one waits. Nobody waits
/// for these messages; a rank looks for them when it waits for something else. Threads: one at a time.
class MpiNotices {
 public:
  /// On a communicator of its own.
  explicit MpiNotices(MPI_Comm all);
  /// All ranks come here: nothing is to be under way.
  void end();

  /// Tells all others what this rank is busy with from now on; "": it is back.
  void busy_with(const std::string& what);
  /// Asks all others where they wait. Those that wait answer within a second or so.
  void ask();
  /// Reads what has come. `waits_at`: where this rank waits, the answer to those that ask. True if a rank
  /// has said what it is busy with, or that it is back.
  bool read(const std::string& waits_at);

  /// What another rank is busy with; "" for nothing.
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
  std::list<Sent> sent_;                             // that may be under way; their addresses stay
};

}  // namespace tpack
