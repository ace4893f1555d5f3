#include <gmock/gmock-matchers.h>

#include "core/stop.h"
#include "input/readers.h"

namespace tpack {
namespace {

TEST(DummyInput, gives_zeros_without_data_and_without_end) {
  InputSetup setup;
  setup.nominal = {{DType::kFloat32, {4, 5}}, {DType::kInt32, {4}}};
  const auto reader = input_of("Dummy")->open(setup);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader->next({}));
  EXPECT_EQ(reader->position().index, 3);
  EXPECT_EQ(reader->waited_s(), 0);
  EXPECT_TRUE(bit_equal(reader->tensors()[0], Tensor::zeros(setup.nominal[0])));
  EXPECT_TRUE(bit_equal(reader->tensors()[1], Tensor::zeros(setup.nominal[1])));
}

TEST(DummyInput, stops_when_asked) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(input_of("DummyConstantInput")->open({})->next(source.get_token()), Stopped);
}

}  // namespace
}  // namespace tpack
