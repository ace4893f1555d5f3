#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/comm.h"

namespace tpack {

/// MPI's text for an error code.
std::string mpi_text(int code);

/// Overlapping sums over all ranks. An array is divided into pieces, and each rank adds a slice of a piece:
/// it receives the slice from all others, adds them in rank order, and sends the sum to all. While one piece
/// waits for its messages, messages of the next ones travel, so the network is never idle because of latency
/// or additions. The division depends only on the sizes of arrays and the number of ranks. Compressed pieces
/// are rounded before sending, added as floats, and the sum is rounded again, so all ranks have the same
/// bits. No function blocks. Threads: one at a time.
class MpiSums {
 public:
  using Fail = std::function<void(const char* stage, const std::string& text)>;

  /// Needs a communicator without other point-to-point messages. `fail` throws.
  MpiSums(MPI_Comm all, Fail fail);
  ~MpiSums();
  MpiSums(const MpiSums&) = delete;
  MpiSums& operator=(const MpiSums&) = delete;

  /// True if all pieces of the last array are in progress or done, so that another one may begin.
  bool has_room() const { return begun_ == length_; }
  /// Every rank begins the same sums in the same order. The array must not be used until it is done.
  void begin(const Sum& sum);
  /// Polls for messages, and continues with pieces whose messages have arrived. True if there were any.
  bool advance();
  bool is_done() const { return has_room() && first_ == next_; }
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Piece;

  Piece& piece(uint64_t number);
  bool begin_pieces();
  void add(Piece& piece);
  template <class T>
  void gather(Piece& piece, std::span<T> wire);
  template <class T>
  void share(Piece& piece, std::span<T> wire);
  void finish(Piece& piece);
  void send(Piece& piece, std::span<const std::byte> bytes, int to, int tag);
  void receive(Piece& piece, std::span<std::byte> bytes, int from, int tag);
  bool has_its_messages(Piece& piece);
  void check(const Piece& piece, int code) const;

  MPI_Comm all_;
  Fail fail_;
  int rank_ = 0;
  int size_ = 1;
  Sum last_;                   // the array being divided
  size_t length_ = 0;          // its elements
  size_t begun_ = 0;           // of them
  std::vector<Piece> pieces_;  // by number modulo their count, with their memory
  // Pieces from `first_` on are being shared, from `gathered_` on gathered; `next_` is the next one.
  uint64_t first_ = 0;
  uint64_t gathered_ = 0;
  uint64_t next_ = 0;
  std::vector<float> expanded_;
  uint64_t bytes_sent_ = 0;
};

}  // namespace tpack
