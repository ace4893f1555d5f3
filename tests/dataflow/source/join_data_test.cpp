#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(JoinData, puts_components_side_by_side_until_the_shortest_ends) {
  for (const std::string second : {"Counting", "CountingInOrder"}) {
    const DataFlow flow =
        make_flow(list({item("JoinData", list({list({item(second, 5), item("SelectComponent", list({"k"}))}),
                                               list({fake_numbers(9)})}))}));
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

TEST(JoinData, two_components_of_one_name_are_refused) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("JoinData", list({list({fake_numbers(3)}), list({fake_numbers(3)})}))}));
            }),
            "JoinData: two of its flows have a component 'x'; leave one out with SelectComponent");
}

TEST(JoinData, has_the_fingerprint_of_all_its_flows) {
  const TempFolder first;
  const TempFolder second;
  first.write("ants/1.png", {1});
  second.write("ants/2.png", {1});
  const auto images = [](const TempFolder& in, const char* kept) {
    return list({item("ImageFolder", in.path()), item("SelectComponent", list({kept}))});
  };
  const auto joined = [&](const TempFolder& a, const TempFolder& b) {
    return make_flow(list({item("JoinData", list({images(a, "image"), images(b, "label")}))})).fingerprint();
  };
  const std::string before = joined(first, second);
  EXPECT_EQ(joined(first, second), before);
  EXPECT_NE(joined(second, first), before) << "the order counts";
  second.write("ants/3.png", {1});
  EXPECT_NE(joined(first, second), before);
}

const live::Fields kJoinData("source", "JoinData",
                             {.base = "{flows: [[Counting: 3]]}", .values = {{"flows", "[[Counting: 4]]"}}});

}  // namespace
}  // namespace tpack
