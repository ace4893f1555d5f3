#include "run/bad_sample_list.h"

#include "config/yaml_reader.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

DataFlow some_flow() { return make_flow(parse_yaml("- FakeData: {shapes: [[2]]}", "test.yaml")); }

void report(const DataFlow& flow, int64_t index) {
  flow.bad_samples().report(SampleError(ErrorKind::kData, {"map_data_0", {0, index, 0}}, "broken"));
}

TEST(BadSampleList, has_a_line_for_each_and_keeps_those_of_an_earlier_run) {
  const TemporaryFolder folder;
  const DataFlow flow = some_flow();
  for (const int64_t index : {5, 7}) {
    BadSampleList list;
    list.watch("train", flow);
    report(flow, index);  // an input reads ahead before the run folder exists
    list.write_to(folder / "bad.txt");
    report(flow, index + 1);
  }
  EXPECT_EQ(content_of(folder / "bad.txt"),
            "data.train: map_data_0, sample 5 of pass 0: broken\n"
            "data.train: map_data_0, sample 6 of pass 0: broken\n"
            "data.train: map_data_0, sample 7 of pass 0: broken\n"
            "data.train: map_data_0, sample 8 of pass 0: broken\n");
}

TEST(BadSampleList, makes_no_file_without_bad_samples) {
  const TemporaryFolder folder;
  BadSampleList list;
  const DataFlow flow = some_flow();
  list.watch("train", flow);
  list.write_to(folder / "bad.txt");
  EXPECT_TRUE(folder.names().empty());
}

TEST(BadSampleList, that_cannot_be_written_does_not_end_the_run) {
  const DataFlow flow = some_flow();
  BadSampleList list;
  list.watch("train", flow);
  list.write_to("/no/such/folder/bad.txt");
  EXPECT_NO_THROW(report(flow, 1));
  EXPECT_NO_THROW(report(flow, 2));
  EXPECT_EQ(flow.bad_samples().count(), 2);
}

}  // namespace
}  // namespace tpack
