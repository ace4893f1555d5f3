#include <algorithm>
#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow joined(const std::string& flows, const std::string& shortest = "false") {
  return yaml_flow("[JoinData: {flows: [" + flows + "], shortest: " + shortest + "}]");
}
/// A shuffled source.
std::string counting(const std::string& name, const std::string& size) {
  return "[Counting: {shuffle: true, size: " + size +
         "}, SelectComponent: [k], RenameComponents: {names: {k: " + name + "}}]";
}
/// FakeData with a component x.
std::string numbers_of_x(const std::string& size) {
  return "[FakeData: {shapes: [[2]], dtype: [int32], names: [x], domain: [0, 1000000], size: " + size + "}]";
}

TEST(JoinData, puts_components_side_by_side_until_the_shortest_ends) {
  for (const std::string second : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = joined("[" + second + ": 5, SelectComponent: [k]], " + numbers_of_x("9"), "true");
    EXPECT_EQ(flow.spec().str(), "k int64 [], x int32 [2]");
    EXPECT_EQ(first_component(flow), (Integers{0, 1, 2, 3, 4})) << second;
    EXPECT_EQ(flow.size().has_value(), second == "Counting");
  }
}

TEST(JoinData, flows_of_one_kind_draw_different_numbers) {
  const DataFlow flow =
      joined("[FakeData: {shapes: [[]], names: [a]}], [FakeData: {shapes: [[]], names: [b]}]");
  Datapoint d = first_sample(flow, {.seed = 1});
  EXPECT_NE(d.tensor(0).at(0), d.tensor(1).at(0));
}

TEST(JoinData, gives_sources_that_shuffle_one_order) {
  const DataFlow flow = joined(counting("a", "50") + ", " + counting("b", "50"));
  std::set<Numbers> orders;
  for (int64_t pass = 0; pass < 3; ++pass) {
    Numbers order;
    const auto cursor = flow.open({.seed = 7, .pass = pass});
    for (Datapoint d; cursor->next(d);) {
      EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
      order.push_back(d.tensor(0).at(0));
    }
    Numbers sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<double>(i));
    EXPECT_NE(order, sorted) << "it is shuffled";
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U) << "a new order in each pass";
}

TEST(JoinData, of_joins_has_one_order_too) {
  const DataFlow flow = joined("[JoinData: [" + counting("a", "20") + ", " + counting("b", "20") + "]], " +
                               counting("c", "20"));
  const auto cursor = flow.open({.seed = 7});
  int count = 0;
  for (Datapoint d; cursor->next(d); ++count) {
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(2).at(0));
  }
  EXPECT_EQ(count, 20);
}

TEST(JoinData, shuffles_pairs_up_to_the_shortest) {
  const DataFlow flow = joined(counting("a", "50") + ", " + counting("b", "30"), "true");
  const auto cursor = flow.open({.seed = 7});
  std::set<double> seen;
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
    seen.insert(d.tensor(0).at(0));
  }
  EXPECT_EQ(seen.size(), 30U);
}

TEST(JoinData, rejects_what_would_break_pairs) {
  const std::string b = "[Counting: 9, SelectComponent: [k], RenameComponents: {names: {k: b}}]";
  const std::string shuffled = "Counting: {size: 9, shuffle: true}";
  expect_errors(
      [](const std::string& flows) { samples_of(yaml_flow("[JoinData: [" + flows + "]]")); },
      {{"[" + shuffled + "], " + b, {"some of its sources shuffle and others keep their order"}},
       {"[" + shuffled + "], [Counting: {size: 8, shuffle: true}]", {"(9, 8 samples)", "shortest: true"}},
       {"[Counting: 9, LocallyShuffleData: {buffer_size: 4}], " + b, {"LocallyShuffleData inside JoinData"}},
       {"{flow: [Counting: 9], on_error: skip}, " + b, {"'on_error' of a flow inside JoinData"}},
       {"[Counting: 9, Picky: {drop_every: 3}], " + b, {"drops samples"}},
       {"[CountingInOrder: 5], " + b, {"one of its flows ended before the others"}}});
}

struct TensParams {
  int64_t bad = -1;
};

/// Sample k is 10 k.
class Tens final : public RandomAccessSource {
 public:
  using Params = TensParams;
  static Schema<Params> schema() {
    return Schema<Params>("Counts by ten.").field("bad", &Params::bad, "the index that fails");
  }
  explicit Tens(Params p) : p_(p) {}
  Spec spec() const override { return {{"tens", {DType::kInt64, {}}}}; }
  int64_t size() const override { return 6; }
  bool shuffled() const override { return false; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    if (index == p_.bad) throw DataError("ten times " + std::to_string(index) + " is bad");
    *out.renew(0, {DType::kInt64, {}}).data<int64_t>() = 10 * index;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, Tens, "Tens");

TEST(JoinData, keeps_pairs_together_if_a_part_fails) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    for (const bool fails_first : {true, false}) {
      const std::string numbers = "[" + source + ": 6, Picky: {fail: 2}, SelectComponent: [k]]";
      for (const std::string bad : {"-1", "2"}) {
        const std::string tens = "[Tens: {bad: " + bad + "}]";
        const DataFlow flow =
            yaml_flow("{flow: [JoinData: [" + (fails_first ? numbers + ", " + tens : tens + ", " + numbers) +
                      "]], on_error: skip}");
        const auto stream = flow.stream({.workers = 1, .passes = 1});
        Numbers seen;
        while (const auto sample = stream->next()) {
          seen.push_back(sample->tensor(fails_first ? 0 : 1).at(0));
          EXPECT_EQ(sample->tensor(fails_first ? 1 : 0).at(0), 10 * seen.back()) << source;
        }
        EXPECT_EQ(seen, (Numbers{0, 1, 3, 4, 5})) << source;
      }
    }
  }
}

TEST(JoinData, numbers_components_of_one_name_by_their_flow) {
  const std::string digits = "[RenderedDigits: {size: 5}]";
  EXPECT_EQ(
      joined(digits + ", " + numbers_of_x("5") + ", " + digits).spec().str(),
      "image uint8 [28, 28, 1], label int32 [], x int32 [2], image_3 uint8 [28, 28, 1], label_3 int32 []");
  const DataFlow flow = joined(digits + ", " + digits);
  EXPECT_EQ(flow.spec()[3].classes.size(), 10U);
  Datapoint d = first_sample(flow, {.seed = 1});
  EXPECT_EQ(d.size(), 4U);
}

TEST(JoinData, rejects_a_number_that_is_taken) {
  const std::string two = "[FakeData: {shapes: [[], []], names: [x, x_2], size: 3}]";
  const std::string one = "[FakeData: {shapes: [[]], names: [x], size: 3}]";
  expect_errors([](const std::string& flows) { yaml_flow("[JoinData: [" + flows + "]]"); },
                {{two + ", " + one,
                  {"JoinData: ", "'x'", "flow 2 cannot be renamed to 'x_2'",
                   "RenameComponents: {names: {x: NEW_NAME}}"}},
                 {one + ", " + two, {"flow 2 cannot be renamed to 'x_2'"}}});
}

TEST(JoinData, has_the_fingerprint_of_all_its_flows) {
  const TempFolder first;
  const TempFolder second;
  first.write("ants/1.png", {1});
  second.write("ants/2.png", {1});
  const auto fingerprint = [&](const TempFolder& a, const TempFolder& b) {
    return joined("[ImageFolder: " + a.path() + ", SelectComponent: [image]], [ImageFolder: " + b.path() +
                      ", SelectComponent: [label]]",
                  "true")
        .fingerprint();
  };
  const std::string before = fingerprint(first, second);
  EXPECT_EQ(fingerprint(first, second), before);
  EXPECT_NE(fingerprint(second, first), before) << "the order counts";
  second.write("ants/3.png", {1});
  EXPECT_NE(fingerprint(first, second), before);
}

const live::Fields kJoinData("source", "JoinData",
                             {.base = "{flows: [[Counting: 3], [Tens: {}]], shortest: true}",
                              .values = {{"flows", "[[Counting: 4], [Tens: {}]]"}, {"shortest", "false"}}});

}  // namespace
}  // namespace tpack
