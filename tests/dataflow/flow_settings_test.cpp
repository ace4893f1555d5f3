#include "dataflow/flow_settings.h"

#include "dataflow/flow_helpers.h"
#include "system/machine.h"

namespace tpack {
namespace {

TEST(WorkerCount, auto_means_the_processors_there_are) {
  EXPECT_EQ(WorkerCount{}.resolved(), available_processors());
  EXPECT_EQ(WorkerCount{3}.resolved(), 3U);
  EXPECT_EQ(Codec<WorkerCount>::dump({}).text(), "auto");
}

TEST(WorkerCount, is_auto_or_a_number_of_threads) {
  Diagnostics errors;
  const Check any;
  Reader reader("'workers' of the flow", any, errors);
  EXPECT_EQ(Codec<WorkerCount>::parse("auto", reader)->count, 0);
  EXPECT_EQ(Codec<WorkerCount>::parse(4, reader)->count, 4);
  EXPECT_FALSE(Codec<WorkerCount>::parse(0, reader).has_value());
  EXPECT_TRUE(fails([&] { errors.throw_if_any(); }, {"'workers' of the flow: ", "from 1 to 1024", "0"}));
}

}  // namespace
}  // namespace tpack
