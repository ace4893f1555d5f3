#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "comm/compression.h"

namespace tpack {

/// An array of which a member wants the sum over all members, element by element, in place.
struct Sum {
  std::variant<std::span<float>, std::span<double>> values;
  const char* stage = "";                        // for messages: "gradients"
  Compression compression = Compression::kNone;  // of floats
};

/// A member of a group of processes or threads that act together. Every member calls the same operations in
/// the same order with the same sizes. Sums are taken in a fixed order (that of the ranks, unless the group
/// says otherwise), so their bits are the same on all members and in every run. Threads: one at a time.
/// Errors (all operations): DistributedError that names rank and stage if a peer failed, disagrees or does
/// not answer within the time-out (and did not say that it is busy); the group cannot be used after it.
class Comm {
 public:
  static constexpr double kDefaultTimeoutS = 300;

  virtual ~Comm() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Adds the arrays of all members element by element, in place. `stage` is for messages: "gradients".
  /// Compressed values travel between processes as 16 bits; the sum of each process is rounded, these are
  /// added as floats, and their sum is rounded. All members name the same compression.
  virtual void all_reduce_sum(std::span<float> values, const char* stage, Compression compression) = 0;
  void all_reduce_sum(std::span<float> values, const char* stage) {
    all_reduce_sum(values, stage, Compression::kNone);
  }
  virtual void all_reduce_sum(std::span<double> values, const char* stage) = 0;
  /// all_reduce_sum of one array after the other, which may overlap. `next` gives an array, or nothing if
  /// none is ready at the moment; it is asked again until the sums of all that it gave are there. All members
  /// give the same arrays in the same order, each when it likes.
  virtual void all_reduce_sums(const std::function<std::optional<Sum>()>& next);
  /// As all_reduce_sum, for members that look at one array: in each process the first member has the sum, and
  /// what the others have afterwards means nothing.
  virtual void reduce_sum(std::span<float> values, const char* stage, Compression compression) {
    all_reduce_sum(values, stage, compression);
  }
  void reduce_sum(std::span<float> values, const char* stage) {
    reduce_sum(values, stage, Compression::kNone);
  }
  virtual void reduce_sum(std::span<double> values, const char* stage) { all_reduce_sum(values, stage); }
  /// Gives the bytes of member `root` to all.
  virtual void broadcast(std::span<std::byte> bytes, int root, const char* stage) = 0;
  /// The largest of the members' values (a stop signal, a count), once all have given theirs.
  virtual int agree_max(int value, const char* stage) = 0;
  /// The texts of all members by rank; lengths may differ.
  virtual std::vector<std::string> all_gather(const std::string& text, const char* stage) = 0;

  /// How long a member waits for another one, in seconds.
  virtual void set_timeout(double seconds) = 0;
  /// Tells the others that this member works alone at `what` from now on, for as long as that takes: those
  /// that wait for it say so after a time-out and go on waiting. "": it is back. Prefer ScopedActivity.
  void busy_with(const std::string& what) {
    if (what == busy_) return;
    busy_ = what;
    tell_busy(what);
  }
  const std::string& busy() const { return busy_; }
  /// False: other threads compute on the processor of the one that waits, so it looks for messages now and
  /// then only. From any thread.
  virtual void set_urgent(bool urgent) { (void)urgent; }
  /// Ends what this member waits for with an error; it cannot be used afterwards. From any thread.
  virtual void cancel() = 0;
  /// The last thing that is done with the group, at the same time by all: the process ends without taking
  /// leave of the others, which an mpirun that was asked to end does not let it do.
  virtual void end_alone() {}
  static constexpr const char* kEnd = "the end";  // its stage
  /// Bytes of arrays that this process has sent to others.
  virtual uint64_t bytes_sent() const { return 0; }

 private:
  virtual void tell_busy(const std::string& what) { (void)what; }

  std::string busy_;
};

/// Tells the other members what this one is busy with as long as the object lives; "": it is there for them.
class ScopedActivity {
 public:
  ScopedActivity(Comm& comm, const std::string& what) : comm_(comm), before_(comm.busy()) {
    comm_.busy_with(what);
  }
  ~ScopedActivity() { comm_.busy_with(before_); }
  ScopedActivity(const ScopedActivity&) = delete;
  ScopedActivity& operator=(const ScopedActivity&) = delete;

 private:
  Comm& comm_;
  std::string before_;
};

/// Of the ranks that have not come in time, those that are not busy, "1, 2": the wait for them has failed.
/// Warns of the others: "rank 1, gradients: rank 0 is still busy with saving a checkpoint; still waiting".
/// `who` is "rank 1, gradients: "; `busy_with` gives "" for a rank that is not busy.
std::string unresponsive_ranks(const std::string& who, const std::vector<int>& late,
                               const std::function<std::string(int rank)>& busy_with);

/// The part of `count` elements that member `rank` of `size` reduces: [begin, end).
struct RankPart {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};
/// Slices of nearly equal length in rank order; all but the last begin at a multiple of 16 elements.
RankPart part_of_rank(size_t count, int rank, int size);

}  // namespace tpack
