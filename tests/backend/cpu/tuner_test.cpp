#include "backend/cpu/tuner.h"

#include <cmath>
#include <filesystem>
#include <regex>
#include <vector>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "ops/convolution.h"
#include "support/captured_log.h"
#include "support/temporary_folder.h"

namespace tpack::cpu {
namespace {

class TunerTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Team team_{1};
  Symbol x_ = b_.input("x", {DType::kFloat32, {2, 32, 8, 8}});
  Symbol w_ = b_.input("w", {DType::kFloat32, {32, 32, 3, 3}});
  Symbol y_ = convolution(b_, x_, w_, {.padding = {1, 1, 1, 1}});
  KernelRequest request(const char* algorithm, Layout layout) const {
    return {*y_.node, layout, algorithm, 1};
  }
};

TEST_F(TunerTest, times_kernels) {
  EXPECT_GT(Tuner("").measure(request("direct", Layout::kNhwc), team_).seconds, 0);
}

TEST_F(TunerTest, keeps_what_it_measured_in_a_file) {
  const TemporaryFolder folder;
  const auto measured = [&](double seconds) {
    Tuner tuner(folder.str(), [seconds](const KernelRequest&, Team&) {
      return Tuner::Measurement{seconds, 64};
    });
    return tuner.measure(request("direct", Layout::kNhwc), team_);
  };
  EXPECT_EQ(measured(0.25).seconds, 0.25);
  EXPECT_EQ(measured(0.5).seconds, 0.25) << "from the file";
  EXPECT_EQ(measured(0.5).scratch_bytes, 64U);
}

TEST_F(TunerTest, keeps_no_timings_that_were_disturbed) {
  const TemporaryFolder folder;
  const auto measured = [&](double seconds) {
    Tuner tuner(folder.str(), [seconds](const KernelRequest&, Team&) {
      return Tuner::Measurement{seconds, 0, true};
    });
    tuner.measure(request("direct", Layout::kNhwc), team_);
    return tuner.measure(request("direct", Layout::kNhwc), team_).seconds;
  };
  const CapturedLog log;
  EXPECT_EQ(measured(0.25), 0.25);
  EXPECT_EQ(measured(0.5), 0.5);
  EXPECT_NE(log.text().find("1 of 1 kernel timings are not kept for later runs"), std::string::npos)
      << log.text();
}

TEST_F(TunerTest, measures_nothing_if_only_known_timings_are_used) {
  const TemporaryFolder folder;
  { Tuner(folder.str()).measure(request("direct", Layout::kNhwc), team_); }
  Tuner known(folder.str(), Timings::kKnown);
  EXPECT_FALSE(known.measure(request("direct", Layout::kNhwc), team_).disturbed);
  EXPECT_TRUE(known.measure(request("direct", Layout::kBlocked), team_).disturbed);
}

TEST_F(TunerTest, takes_no_timings_of_another_version) {
  const TemporaryFolder folder;
  const auto measured = [&] {
    Tuner tuner(folder.str(), [](const KernelRequest&, Team&) { return Tuner::Measurement{0.5, 0}; });
    return tuner.measure(request("direct", Layout::kNhwc), team_).seconds;
  };
  measured();
  const std::string path = std::filesystem::directory_iterator(folder.str())->path();
  const std::string written = content_of(path);
  const size_t end = written.find('\n');
  EXPECT_EQ(written.substr(0, 6), "tpack ");
  EXPECT_NE(written.substr(0, end).find(" oneDNN "), std::string::npos);
  const std::string timing = written.substr(written.find(' ', end));  // without its first number
  write_content(path, written.substr(0, end) + "\n12345" + timing);
  EXPECT_EQ(measured(), 12345);
  write_content(path, "tpack 0.0.1 oneDNN 2.6.0\n12345" + timing);
  EXPECT_EQ(measured(), 0.5);
}

TEST_F(TunerTest, calls_impossible_what_cannot_be_had) {
  Tuner tuner("");
  EXPECT_TRUE(std::isinf(tuner.measure(request("winograd", Layout::kNhwc), team_).seconds));
}

TEST(Fastest, counts_runs_that_were_left_alone) {
  const std::vector<TimedRun> quiet = {{3.0, false}, {1.0, true}, {2.0, false}};
  EXPECT_EQ(fastest(quiet).seconds, 2.0);
  EXPECT_FALSE(fastest(quiet).disturbed);
  const std::vector<TimedRun> busy = {{3.0, false}, {1.0, true}, {2.0, true}};
  EXPECT_EQ(fastest(busy).seconds, 1.0);
  EXPECT_TRUE(fastest(busy).disturbed);
}

TEST(CpuName, names_vendor_model_and_instruction_set) {
  const std::regex form("(\\w+) [0-9]+/[0-9]+/[0-9]+ [A-Z0-9_]+");
  std::smatch parts;
  const std::string name = cpu_name();
  ASSERT_TRUE(std::regex_match(name, parts, form)) << name;
  EXPECT_NE(content_of("/proc/cpuinfo").find(": " + parts[1].str() + "\n"), std::string::npos) << name;
}

}  // namespace
}  // namespace tpack::cpu
