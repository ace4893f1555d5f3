#include "dataflow/flow_helpers.h"
#include "system/log.h"

namespace tpack {
namespace {

TEST(PrintData, logs_the_first_datapoints_only) {
  const TempFolder folder;
  log::to_file(folder.path("log.txt"));
  first_component(make_flow(list({item("Counting", 5), item("PrintData", {{"num", 2}, {"name", "here"}})})));
  log::close_file();
  std::ifstream in(folder.path("log.txt"));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, testing::HasSubstr(
                        "here: sample 1 of pass 0; k: int64 [] from 1 to 1; pass: int64 [] from 0 to 0"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("sample 2")));
}

}  // namespace
}  // namespace tpack
