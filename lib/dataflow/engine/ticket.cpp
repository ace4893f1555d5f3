#include "dataflow/engine/ticket.h"

#include <algorithm>

#include "dataflow/sample_error.h"

namespace tpack {

TicketSource::TicketSource(const StreamPlan& plan, const StreamOptions& options)
    : plan_(plan),
      options_(options),
      by_place_(plan.samples->access() != Access::kSequential),
      batch_size_(std::max<int64_t>(plan.batch_size(), 1)),
      pass_{options.seed, options.position.pass, 0},
      batches_to_skip_(plan.drops() ? 0 : options.position.index) {
  ended_ = options.passes && *options.passes <= 0;
}

void TicketSource::pull(Ticket& t, int64_t most) {
  t.count = 0;
  t.pass = pass_;
  t.begins_pass = begins_pass_;
  t.ends_pass = false;
  t.error = nullptr;
  t.done = false;
  try {
    if (begins_pass_) begin_pass(t);
    while (t.count < static_cast<size_t>(most) && !t.ends_pass) {
      t.ends_pass = !pull_item(t.items[t.count]);
      if (!t.ends_pass) ++t.count;
    }
    if (t.ends_pass) end_pass();
  } catch (...) {
    t.error = std::current_exception();
    ended_ = true;
  }
}

void TicketSource::begin_pass(Ticket& t) {
  begins_pass_ = false;
  place_ = 0;
  if (!by_place_) cursor_ = plan_.samples->open(pass_);
  const int64_t items = skip_items(batches_to_skip_ * batch_size_);
  const bool remainder =
      plan_.batched != nullptr && plan_.batched->keeps_remainder() && items % batch_size_ != 0;
  t.skipped_batches = items / batch_size_ + (remainder ? 1 : 0);
  batches_to_skip_ -= t.skipped_batches;
}

int64_t TicketSource::skip_items(int64_t count) {
  if (count == 0) return 0;
  if (!by_place_) return cursor_->skip(count);
  place_ = std::min(count, plan_.samples->places());
  return place_;
}

bool TicketSource::pull_item(Ticket::Item& item) {
  if (by_place_) {
    if (place_ >= plan_.samples->places()) return false;
    item.place = place_++;
  } else if (!next_of_cursor(item.data)) {
    return false;
  }
  number_item(item);
  return true;
}

bool TicketSource::next_of_cursor(Datapoint& out) {
  for (int bad = 0;;) {
    try {
      return cursor_->next(out);
    } catch (const SampleError& error) {
      if (plan_.guard == nullptr) throw;
      plan_.guard->tolerate(error, ++bad);
    }
  }
}

void TicketSource::number_item(Ticket::Item& item) {
  item.there = false;
  item.wanted = plan_.drops() || batch_ % options_.shard_count == options_.shard;
  if (++row_ < batch_size_) return;
  row_ = 0;
  ++batch_;
}

void TicketSource::end_pass() {
  const bool remainder = plan_.batched != nullptr && plan_.batched->keeps_remainder() && row_ > 0;
  if (remainder) ++batch_;
  row_ = 0;
  begins_pass_ = true;
  cursor_.reset();
  ++pass_.pass;
  ended_ = options_.passes && pass_.pass >= options_.position.pass + *options_.passes;
}

void TicketSource::map(Ticket& t) const {
  for (size_t i = 0; i < t.count; ++i) {
    Ticket::Item& item = t.items[i];
    if (!item.wanted) continue;
    try {
      item.there = fill(item, t.pass);
    } catch (...) {
      t.error = std::current_exception();
      t.count = i;
    }
  }
}

bool TicketSource::fill(Ticket::Item& item, const PassKey& pass) const {
  try {
    if (by_place_ && !plan_.samples->get(pass, item.place, item.data)) return false;
    const bool there = std::all_of(plan_.sample_maps.begin(), plan_.sample_maps.end(),
                                   [&](const MapFlow* map) { return map->apply(pass.seed, item.data); });
    if (plan_.guard != nullptr && there) plan_.guard->decode_images(item.data);
    if (plan_.batched != nullptr && plan_.batched->has_groups() && there) plan_.batched->decode(item.data);
    if (plan_.guard != nullptr) plan_.guard->kept();
    return there;
  } catch (const SampleError& error) {
    if (plan_.guard == nullptr) throw;
    plan_.guard->skip(error);
    return false;
  }
}

}  // namespace tpack
