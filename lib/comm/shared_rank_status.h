#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tpack {

/// Memory that the ranks of one machine share with the process that started them: the stage of each rank, and
/// which one ended early and why. It has a name in the file system until the process that made it ends.
/// Threads: any, in any process; one thread of each rank writes its own part.
class SharedRankStatus {
 public:
  /// The environment variable with the name for the ranks.
  static constexpr const char* kVariable = "TPACK_RANK_BOARD";

  /// Errors: ResourceError if it cannot be created.
  static std::unique_ptr<SharedRankStatus> create(int ranks);
  /// The board of the environment; null if there is none with `ranks` ranks.
  static std::unique_ptr<SharedRankStatus> open(int ranks);
  ~SharedRankStatus();
  SharedRankStatus(const SharedRankStatus&) = delete;
  SharedRankStatus& operator=(const SharedRankStatus&) = delete;

  const std::string& name() const { return name_; }
  int ranks() const;
  /// This process is that rank.
  void enter(int rank);
  /// Sets the stage of the rank: "gradients", or with `is_over` "after gradients"; a long text is truncated.
  /// Does not allocate.
  void set_stage(int rank, std::string_view stage, bool is_over = false);
  /// The rank has done its part of the run and will end.
  void leave(int rank);
  /// Why a rank ends the run. Only the first one counts: others fail because of it. A long text is truncated.
  void set_failure(int rank, int exit_code, std::string_view text);
  /// The rank has ended by a signal, in an orderly way: all ranks have saved.
  void set_interrupted(int signal);
  /// The rank has ended early: the others cannot continue. Only the first one counts.
  void set_lost(int rank);

  /// 0 until the rank has entered.
  pid_t pid(int rank) const;
  std::string stage(int rank) const;
  bool has_left(int rank) const;
  /// True if it has reported why it ends.
  bool has_failed(int rank) const;
  /// -1 if none is lost.
  int lost() const;
  /// The signal that ended the run; 0 if there was none.
  int interrupted() const;
  struct RankFailure {
    int rank = 0;
    int exit_code = 0;
    std::string text;
  };
  std::optional<RankFailure> failure() const;

 private:
  struct Header;
  struct Slot;
  SharedRankStatus(std::string name, bool owns, void* memory, size_t bytes);
  static size_t bytes_for(int ranks);
  Header& header() const;
  Slot& slot(int rank) const;

  std::string name_;
  bool owns_;
  void* memory_;
  size_t bytes_;
};

}  // namespace tpack
