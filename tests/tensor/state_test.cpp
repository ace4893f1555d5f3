#include "tensor/state.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock-more-matchers.h>

#include "core/error.h"

namespace tpack {
namespace {

State round_trip(const State& state) { return State::from_json(state.to_json(), "model-7.h5"); }

TEST(State, doubles_come_back_bit_by_bit) {
  const std::vector<double> values = {0.1,
                                      -0.0,
                                      1e-310,
                                      1.0 / 3,
                                      std::numeric_limits<double>::max(),
                                      -std::numeric_limits<double>::infinity()};
  State state;
  state.put("list", values);
  for (size_t i = 0; i < values.size(); ++i) state.put("v" + std::to_string(i), values[i]);
  const State back = round_trip(state);
  const auto list = back.get<std::vector<double>>("list");
  ASSERT_EQ(list.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::memcmp(&list[i], &values[i], sizeof(double)), 0) << values[i];
    const double one = back.get<double>("v" + std::to_string(i));
    EXPECT_EQ(std::memcmp(&one, &values[i], sizeof(double)), 0) << values[i];
  }
}

TEST(State, nan_stays_nan) {
  State state;
  state.put("x", std::nan(""));
  EXPECT_TRUE(std::isnan(round_trip(state).get<double>("x")));
}

TEST(State, integers_and_texts_come_back) {
  State state;
  state.put("n", std::numeric_limits<int64_t>::min());
  state.put("text", std::string("two\nlines, \"quoted\""));
  state.put("none", std::vector<double>{});
  const State back = round_trip(state);
  EXPECT_EQ(back.get<int64_t>("n"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(back.get<std::string>("text"), "two\nlines, \"quoted\"");
  EXPECT_THAT(back.get<std::vector<double>>("none"), testing::IsEmpty());
}

TEST(State, an_absent_value_has_a_substitute_or_is_an_error) {
  const State state = round_trip(State());
  EXPECT_TRUE(state.empty());
  EXPECT_EQ(state.get<int64_t>("bad", 3), 3);
  try {
    state.get<int64_t>("bad");
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_STREQ(error.what(), "model-7.h5: has no value 'bad'");
  }
}

TEST(State, a_value_of_another_type_is_an_error) {
  State state;
  state.put("text", std::string("abc"));
  EXPECT_THROW(state.get<int64_t>("text"), CheckpointError);
  EXPECT_THROW(state.get<double>("text"), CheckpointError);
  EXPECT_THROW(State::from_json("[1", "x.h5"), CheckpointError);
  EXPECT_THROW(State::from_json("[1]", "x.h5"), CheckpointError);
}

TEST(State, holds_states_and_arrays) {
  State inner;
  inner.put("count", 3);
  inner.put("w", Tensor(DType::kFloat32, {2}));
  State outer;
  outer.put("a", inner);
  outer.put("b", 4);
  EXPECT_EQ(outer.part("a").get<int64_t>("count"), 3);
  EXPECT_EQ(outer.part("a").get<Tensor>("w").shape(), (Shape{2}));
  EXPECT_TRUE(outer.part("b").empty());
  EXPECT_EQ(outer.tensors().begin()->first, "a/w");
  EXPECT_EQ(round_trip(outer).part("a").get<int64_t>("count"), 3);
  EXPECT_THROW(round_trip(outer).part("a").get<Tensor>("w"), CheckpointError) << "arrays are not in the text";
}

TEST(State, checks_the_range_of_counts) {
  State state;
  state.put("pass", -1);
  state.put("epoch", std::numeric_limits<int64_t>::max());
  state.put("step", int64_t{1'000'000'000'000});
  const State read = State::from_json(state.to_json(), "a.h5");
  EXPECT_EQ(read.count("step"), 1'000'000'000'000);
  EXPECT_THROW(read.count("step", State::kMostPasses), CheckpointError);
  EXPECT_EQ(read.count("pass", 10, -1), -1);
  try {
    read.count("pass");
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_STREQ(error.what(), "a.h5: is damaged: 'pass' is -1; it must be from 0 to 1000000000000");
  }
  EXPECT_THROW(read.count("epoch"), CheckpointError);
}

}  // namespace
}  // namespace tpack
