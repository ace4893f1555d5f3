#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "callbacks/callback_scenes.h"

namespace tpack {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(GraphProfiler, writes_when_each_kernel_ran) {
  for (const auto backend : {EngineSettings::Backend::kReference, EngineSettings::Backend::kKernels}) {
    const TemporaryFolder folder;
    SmallRun run({.max_epoch = 1, .steps_per_epoch = 3}, folder.str(), "Simple", 4, "Adam", backend);
    run.add("EnableIf", parse_yaml("{callback: GraphProfiler, condition: step == 1}", "g.yaml")).go();
    ASSERT_THAT(folder.names(), Contains("chrome-trace-2.json"));
    EXPECT_THAT(folder.names(), testing::Not(Contains("chrome-trace-1.json")));
    const auto trace = nlohmann::json::parse(content_of(folder / "chrome-trace-2.json"));
    std::vector<std::string> threads;
    double last_end = 0;
    double step_end = 0;
    int kernels = 0;
    bool any_of_fc0 = false;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "M") {
        threads.push_back(event.at("args").at("name"));
        continue;
      }
      const double begin = event.at("ts");
      const double end = begin + event.at("dur").get<double>();
      if (event.at("cat") == "step") {
        EXPECT_EQ(event.at("name"), "step 2");
        step_end = end;
        continue;
      }
      ++kernels;
      any_of_fc0 |= event.at("name").get<std::string>().find("fc0") != std::string::npos;
      EXPECT_GE(begin, last_end - 1e-3);  // one after the other
      last_end = end;
    }
    EXPECT_THAT(threads, ElementsAre("step", "backward", "update"));
    EXPECT_GT(kernels, 3);
    EXPECT_TRUE(any_of_fc0);
    EXPECT_LE(last_end, step_end);
  }
}

TEST(GraphProfiler, says_that_it_needs_a_folder) {
  const CapturedLog log;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.add("GraphProfiler").go();
  EXPECT_TRUE(says(log.text(), {"GraphProfiler writes nothing: the run has no log folder"}));
}

}  // namespace
}  // namespace tpack
