#include <gmock/gmock.h>

#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

// Several ranks: tests/parallel/data_parallel_test.cpp under mpirun.
TEST(Horovod, alone_is_a_world_of_one_with_the_bits_of_simple) {
  SmallTraining simple("Simple");
  SmallTraining horovod("Horovod");
  for (SmallTraining* training : {&simple, &horovod}) {
    training->trainer().initialize();
    for (int64_t step = 0; step < 10; ++step) ASSERT_TRUE(training->trainer().step(step, {}));
  }
  EXPECT_EQ(horovod.trainer().step_size().ranks, 1);
  expect_bit_equal(variables_of(simple.trainer()), variables_of(horovod.trainer()));
}

const live::Fields kHorovod("trainer", "Horovod",
                            {.base = "{devices: 2}", .values = {{"devices", "[cpu:0]"}}});

}  // namespace
}  // namespace tpack
