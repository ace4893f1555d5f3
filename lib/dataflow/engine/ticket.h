#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "dataflow/datapoint.h"
#include "dataflow/engine/stream_plan.h"
#include "dataflow/stream.h"

namespace tpack {

/// Some consecutive items on their way from a flow through the sample maps to the slots.
struct Ticket {
  struct Item {
    Datapoint data;
    int64_t place = 0;   // for flows that are read by place
    bool wanted = true;  // false: belongs to a batch that another reader takes; not filled
    bool there = false;  // false: dropped
  };
  std::vector<Item> items;  // the first `count` are used
  size_t count = 0;
  PassKey pass;
  bool begins_pass = false;
  bool ends_pass = false;       // after the items
  int64_t skipped_batches = 0;  // of a pass that starts in its middle
  std::exception_ptr error;     // after the items
  bool done = false;            // the maps ran
  PartTimes* times = nullptr;   // of its work; null: not measured
};

/// Takes items from the flow of a plan, pass after pass, starting at the stream's position. Threads: `pull`
/// one at a time, `map` any number on different tickets.
class TicketSource {
 public:
  TicketSource(const StreamPlan& plan, const StreamOptions& options);

  /// Fills the ticket with the next items: at most `most` (<= t.items.size()), never beyond the end of a
  /// pass.
  void pull(Ticket& t, int64_t most);
  /// True after all passes were pulled, or an error.
  bool ended() const { return ended_; }
  /// Runs the sample maps, and reads items that are read by place.
  void map(Ticket& t) const;

 private:
  void begin_pass(Ticket& t);
  int64_t skip_items(int64_t count);
  bool pull_item(Ticket::Item& item);
  bool next_of_cursor(Datapoint& out);
  void number_item(Ticket::Item& item);
  void end_pass();
  bool fill(Ticket::Item& item, const PassKey& pass) const;

  const StreamPlan& plan_;
  const StreamOptions options_;
  const bool by_place_;
  const int64_t batch_size_;  // 1 for single samples
  PassKey pass_;
  std::unique_ptr<Cursor> cursor_;
  int64_t place_ = 0;
  int64_t batches_to_skip_;  // if nothing is dropped; otherwise the reader of the tickets counts them
  int64_t batch_ = 0;        // of the next item, counted from the stream's position
  int64_t row_ = 0;          // of the next item, in its batch
  bool begins_pass_ = true;
  bool ended_ = false;
};

}  // namespace tpack
