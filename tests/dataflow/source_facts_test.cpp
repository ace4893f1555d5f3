#include "dataflow/source_facts.h"

#include "core/text.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(SourceFacts, say_how_much_there_is_to_read) {
  EXPECT_EQ((SourceFacts{.samples = 1000}.str()), "1,000 samples");
  EXPECT_EQ((SourceFacts{.samples = kEndless}.str()), "endless samples");
  EXPECT_EQ(SourceFacts{}.str(), "an unknown number of samples");
  EXPECT_EQ((SourceFacts{244, "images", {{"ants", 123}, {"bees", 121}}}.str()),
            "244 images in 2 classes (ants: 123, bees: 121)");
  EXPECT_EQ((SourceFacts{1200, "images", {{"ants", 1200}}}.str()), "1,200 images in 1 class (ants: 1200)");
}

TEST(SourceFacts, tell_classes_that_look_the_same) {
  EXPECT_EQ(similar_classes({{"cat", 3}, {"Cat ", 1}, {"dog", 2}, {"New York", 1}, {"new  york", 1}}),
            "classes 'cat' and 'Cat ', 'New York' and 'new  york' differ only by letter case, spaces or the "
            "form of accents; if they are the same class, use one name");
  EXPECT_EQ(similar_classes({{"cat", 3}, {"cats", 1}}), "");
}

TEST(SourceFacts, of_many_classes_say_the_range) {
  SourceFacts facts{.samples = 0, .unit = "images"};
  for (int64_t i = 0; i < 1000; ++i) {
    facts.classes.push_back({"n" + std::to_string(i), 732 + i % 569});
    *facts.samples += facts.classes.back().samples;
  }
  EXPECT_EQ(facts.str(), with_thousands(*facts.samples) + " images in 1,000 classes (732 to 1,300 each)");
}

TEST(SourceFacts, of_a_flow_are_those_of_all_its_sources) {
  const DataFlow flow = yaml_flow(
      "[JoinData: [[Counting: 12, SelectComponent: [k]], [CountingInOrder: 7, SelectComponent: [pass]]], "
      "RepeatedData: {num: 2}, BatchData: 2]");
  EXPECT_EQ(describe(flow.facts()), "12 samples; an unknown number of samples");
  EXPECT_EQ(flow.fingerprint(), "") << "nothing is read from files";
}

}  // namespace
}  // namespace tpack
