#include <algorithm>
#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

ConfigNode joined(std::vector<ConfigNode> flows, bool shortest = false) {
  return list({item("JoinData", {{"flows", list(std::move(flows))}, {"shortest", shortest}})});
}
ConfigNode counting(const std::string& name, int64_t size, bool shuffle) {
  return list({item("Counting", {{"size", size}, {"shuffle", shuffle}}), item("SelectComponent", list({"k"})),
               item("RenameComponents", {{"names", ConfigNode::map({{"k", name}})}})});
}

TEST(JoinData, puts_components_side_by_side_until_the_shortest_ends) {
  for (const std::string second : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = make_flow(joined(
        {list({item(second, 5), item("SelectComponent", list({"k"}))}), list({fake_numbers(9)})}, true));
    EXPECT_EQ(flow.spec().str(), "k int64 [], x int32 [2]");
    EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 2, 3, 4})) << second;
    EXPECT_EQ(flow.size().has_value(), second == "Counting");
  }
}

TEST(JoinData, flows_of_one_kind_draw_different_numbers) {
  const ConfigNode numbers = item("FakeData", {{"shapes", list({list({})})}, {"names", list({"a"})}});
  const ConfigNode others = item("FakeData", {{"shapes", list({list({})})}, {"names", list({"b"})}});
  const DataFlow flow = make_flow(list({item("JoinData", list({list({numbers}), list({others})}))}));
  Datapoint d;
  ASSERT_TRUE(flow.open({.seed = 1})->next(d));
  EXPECT_NE(d.tensor(0).at(0), d.tensor(1).at(0));
}

TEST(JoinData, gives_sources_that_shuffle_one_order) {
  const DataFlow flow = make_flow(joined({counting("a", 50, true), counting("b", 50, true)}));
  std::set<std::vector<double>> orders;
  for (int64_t pass = 0; pass < 3; ++pass) {
    std::vector<double> order;
    const auto cursor = flow.open({.seed = 7, .pass = pass});
    for (Datapoint d; cursor->next(d);) {
      EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
      order.push_back(d.tensor(0).at(0));
    }
    std::vector<double> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<double>(i));
    EXPECT_NE(order, sorted) << "it is shuffled";
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U) << "a new order in each pass";
}

TEST(JoinData, of_joins_has_one_order_too) {
  const ConfigNode inner = joined({counting("a", 20, true), counting("b", 20, true)});
  const DataFlow flow = make_flow(joined({inner, counting("c", 20, true)}));
  const auto cursor = flow.open({.seed = 7});
  int count = 0;
  for (Datapoint d; cursor->next(d); ++count) {
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(2).at(0));
  }
  EXPECT_EQ(count, 20);
}

TEST(JoinData, shuffles_pairs_up_to_the_shortest) {
  const DataFlow flow = make_flow(joined({counting("a", 50, true), counting("b", 30, true)}, true));
  const auto cursor = flow.open({.seed = 7});
  std::set<double> seen;
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.tensor(0).at(0), d.tensor(1).at(0));
    seen.insert(d.tensor(0).at(0));
  }
  EXPECT_EQ(seen.size(), 30U);
}

TEST(JoinData, rejects_what_would_break_pairs) {
  const auto error = [](const ConfigNode& config) { return error_of([&] { make_flow(config).prepare(); }); };
  using testing::HasSubstr;
  EXPECT_THAT(error(joined({counting("a", 9, true), counting("b", 9, false)})),
              HasSubstr("some of its sources shuffle and others keep their order"));
  EXPECT_THAT(error(joined({counting("a", 9, true), counting("b", 8, true)})),
              HasSubstr("different lengths (9, 8 samples); set shortest: true"));
  ConfigNode local = list({item("Counting", 9), item("LocallyShuffleData", {{"buffer_size", 4}})});
  EXPECT_THAT(error(joined({local, counting("b", 9, false)})),
              HasSubstr("LocallyShuffleData inside JoinData would separate samples"));
  const ConfigNode skipping = ConfigNode::map({{"flow", list({item("Counting", 9)})}, {"on_error", "skip"}});
  EXPECT_THAT(error(joined({skipping, counting("b", 9, false)})),
              HasSubstr("'on_error' of a flow inside JoinData"));
  const ConfigNode dropping = list({item("Counting", 9), item("Picky", {{"drop_every", 3}})});
  EXPECT_THAT(error(joined({dropping, counting("b", 9, false)})), HasSubstr("drops samples"));
  const ConfigNode in_order = list({item("CountingInOrder", 9), item("SelectComponent", list({"k"}))});
  const DataFlow unequal = make_flow(joined({in_order, counting("b", 5, false)}));
  EXPECT_THAT(error_of([&] {
                const auto cursor = unequal.open({});
                for (Datapoint d; cursor->next(d);) continue;
              }),
              HasSubstr("one of its flows ended before the others"));
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
  for (const char* source : {"Counting", "CountingInOrder"}) {
    for (const bool fails_first : {true, false}) {
      const ConfigNode numbers =
          list({item(source, 6), item("Picky", {{"fail", 2}}), item("SelectComponent", list({"k"}))});
      for (const int bad : {-1, 2}) {
        const ConfigNode tens = list({item("Tens", {{"bad", bad}})});
        const ConfigNode join = item("JoinData", fails_first ? list({numbers, tens}) : list({tens, numbers}));
        const DataFlow flow = make_flow(ConfigNode::map({{"flow", list({join})}, {"on_error", "skip"}}));
        const auto stream = flow.stream({.workers = 1, .passes = 1});
        std::vector<double> seen;
        while (const auto sample = stream->next()) {
          seen.push_back(sample->tensor(fails_first ? 0 : 1).at(0));
          EXPECT_EQ(sample->tensor(fails_first ? 1 : 0).at(0), 10 * seen.back()) << source;
        }
        EXPECT_EQ(seen, (std::vector<double>{0, 1, 3, 4, 5})) << source;
      }
    }
  }
}

TEST(JoinData, numbers_components_of_one_name_by_their_flow) {
  const ConfigNode digits = list({item("RenderedDigits", {{"size", 5}})});
  const ConfigNode numbers = list({fake_numbers(5)});
  EXPECT_EQ(
      make_flow(joined({digits, numbers, digits})).spec().str(),
      "image uint8 [28, 28, 1], label int32 [], x int32 [2], image_3 uint8 [28, 28, 1], label_3 int32 []");
  const DataFlow flow = make_flow(joined({digits, digits}));
  EXPECT_EQ(flow.spec()[3].classes.size(), 10U);
  Datapoint d;
  ASSERT_TRUE(flow.open({.seed = 1})->next(d));
  EXPECT_EQ(d.size(), 4U);
}

TEST(JoinData, rejects_a_number_that_is_taken) {
  const auto renamed = [](const std::string& name) {
    return list({fake_numbers(3), item("RenameComponents", {{"names", ConfigNode::map({{"x", name}})}})});
  };
  const auto named = [](const std::string& first, const std::string& second) {
    return list(
        {item("FakeData",
              {{"shapes", list({list({}), list({})})}, {"names", list({first, second})}, {"size", 3}})});
  };
  EXPECT_EQ(
      error_of([&] {
        make_flow(joined({named("x", "x_2"), renamed("x")}));
      }),
      "JoinData: two of its flows have a component 'x', and the component of flow 2 cannot be renamed to "
      "'x_2', because that name is taken; add RenameComponents: {names: {x: NEW_NAME}} to that flow");
  EXPECT_THAT(error_of([&] {
                make_flow(joined({renamed("x"), named("x", "x_2")}));
              }),
              testing::HasSubstr("the component of flow 2 cannot be renamed to 'x_2'"));
}

TEST(JoinData, has_the_fingerprint_of_all_its_flows) {
  const TempFolder first;
  const TempFolder second;
  first.write("ants/1.png", {1});
  second.write("ants/2.png", {1});
  const auto images = [](const TempFolder& in, const char* kept) {
    return list({item("ImageFolder", in.path()), item("SelectComponent", list({kept}))});
  };
  const auto fingerprint = [&](const TempFolder& a, const TempFolder& b) {
    return make_flow(joined({images(a, "image"), images(b, "label")}, true)).fingerprint();
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
