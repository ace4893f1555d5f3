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

/// An array to sum over all members, element by element, in place.
struct Sum {
  std::variant<std::span<float>, std::span<double>> values;
  const char* stage = "";                        // for messages: "gradients"
  Compression compression = Compression::kNone;  // of floats
};

/// A member of a group of processes or threads that act together. Every member calls the same operations in
/// the same order with the same sizes. Sums have a fixed order (of the ranks, unless the group defines
/// another one), so their bits are the same on all members and in every run. Threads: one at a time. Errors
/// (all operations): DistributedError that names rank and stage if a peer failed, disagrees or does not
/// respond within the time-out (and did not report that it is busy); the group cannot be used afterwards.
class Comm {
 public:
  static constexpr double kDefaultTimeoutS = 300;

  virtual ~Comm() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Adds the arrays of all members element by element, in place. `stage` is for messages: "gradients".
  /// Compressed values travel between processes as 16 bits: the sum of each process is rounded, the rounded
  /// sums are added as floats, and the result is rounded. All members must use the same compression.
  virtual void all_reduce_sum(std::span<float> values, const char* stage, Compression compression) = 0;
  void all_reduce_sum(std::span<float> values, const char* stage) {
    all_reduce_sum(values, stage, Compression::kNone);
  }
  virtual void all_reduce_sum(std::span<double> values, const char* stage) = 0;
  /// all_reduce_sum of several arrays, which may overlap. `next` returns an array, or nothing if none is
  /// ready at the moment; it is called again until all its arrays are summed. All members pass the same
  /// arrays in the same order, at any time.
  virtual void all_reduce_sums(const std::function<std::optional<Sum>()>& next);
  /// Same as all_reduce_sum, if only one member per process needs the result: the first member has the sum,
  /// and the arrays of the others are undefined afterwards.
  virtual void reduce_sum(std::span<float> values, const char* stage, Compression compression) {
    all_reduce_sum(values, stage, compression);
  }
  void reduce_sum(std::span<float> values, const char* stage) {
    reduce_sum(values, stage, Compression::kNone);
  }
  virtual void reduce_sum(std::span<double> values, const char* stage) { all_reduce_sum(values, stage); }
  /// Sends the bytes of member `root` to all.
  virtual void broadcast(std::span<std::byte> bytes, int root, const char* stage) = 0;
  /// The largest of the members' values (a stop signal, a count); waits for all.
  virtual int agree_max(int value, const char* stage) = 0;
  /// The texts of all members by rank; lengths may differ.
  virtual std::vector<std::string> all_gather(const std::string& text, const char* stage) = 0;

  /// Time-out for waiting for another member, in seconds.
  virtual void set_timeout(double seconds) = 0;
  /// Tells the others that this member is busy with `what` from now on, without a time limit: members that
  /// wait for it log this after a time-out and continue to wait. "": it is back. Prefer ScopedActivity.
  void busy_with(const std::string& what) {
    if (what == busy_) return;
    busy_ = what;
    tell_busy(what);
  }
  const std::string& busy() const { return busy_; }
  /// False: other threads compute on the processor of the waiting one, so it polls for messages only
  /// occasionally. From any thread.
  virtual void set_urgent(bool urgent) { (void)urgent; }
  /// Ends the wait of this member with an error; it cannot be used afterwards. From any thread.
  virtual void cancel() = 0;
  /// The last operation of the group, called by all members: the process will end without finalizing MPI,
  /// because an mpirun that is ending does not allow it.
  virtual void end_alone() {}
  static constexpr const char* kEnd = "the end";  // its stage
  /// Bytes of arrays sent by this process.
  virtual uint64_t bytes_sent() const { return 0; }

 private:
  virtual void tell_busy(const std::string& what) { (void)what; }

  std::string busy_;
};

/// Tells the other members that this one is busy, as long as the object lives; "": not busy.
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

/// The late ranks that are not busy, "1, 2": the wait for them has failed. Warns about busy ones: "rank 1,
/// gradients: rank 0 is still busy with saving a checkpoint; still waiting". `who` is "rank 1, gradients: ";
/// `busy_with` returns "" for a rank that is not busy.
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
