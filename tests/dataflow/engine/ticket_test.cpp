#include "dataflow/engine/ticket.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

Ticket ticket() {
  Ticket t;
  t.items.resize(16);
  return t;
}

TEST(TicketSource, tickets_never_reach_over_the_end_of_a_pass) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {.passes = 2});
  Ticket t = ticket();
  source.pull(t, 4);
  EXPECT_EQ(t.count, 4U);
  EXPECT_TRUE(t.begins_pass);
  EXPECT_FALSE(t.ends_pass);
  source.pull(t, 4);
  EXPECT_EQ(t.count, 1U);
  EXPECT_TRUE(t.ends_pass);
  EXPECT_FALSE(source.ended());
  source.pull(t, 16);
  EXPECT_EQ(t.pass.pass, 1);
  EXPECT_TRUE(source.ended());
}

TEST(TicketSource, begins_in_the_middle_and_continues_in_the_next_pass) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {.position = {0, 3}});  // a pass has two batches
  Ticket t = ticket();
  source.pull(t, 16);
  EXPECT_EQ(t.count, 0U);
  EXPECT_EQ(t.skipped_batches, 2);
  source.pull(t, 1);
  EXPECT_EQ(t.skipped_batches, 1);
  EXPECT_EQ(t.items[0].data.tensor(0).at(0), 2);
}

TEST(TicketSource, an_error_comes_after_the_good_items) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, Picky: {fail: 3}, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {});
  Ticket t = ticket();
  source.pull(t, 5);
  source.map(t);
  EXPECT_EQ(t.count, 3U);
  EXPECT_TRUE(fails([&] { std::rethrow_exception(t.error); }, {":1:22: picky_0, sample 3 of pass 0: "}));
}

}  // namespace
}  // namespace tpack
