#include "backend/cpu/tuner.h"

#include <cmath>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "ops/convolution.h"
#include "support/temporary_folder.h"

namespace tpack::cpu {
namespace {

class TunerTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Symbol x_ = b_.input("x", {DType::kFloat32, {2, 32, 8, 8}});
  Symbol w_ = b_.input("w", {DType::kFloat32, {32, 32, 3, 3}});
  Symbol y_ = convolution(b_, x_, w_, {.padding = {1, 1, 1, 1}});
  KernelRequest request(const char* algorithm, Layout layout) const {
    return {*y_.node, layout, algorithm, 1};
  }
};

TEST_F(TunerTest, keeps_what_it_measured_in_a_file) {
  const TemporaryFolder folder;
  double seconds = 0;
  {
    Tuner tuner(folder.str());
    seconds = tuner.measure(request("direct", Layout::kNhwc)).seconds;
    EXPECT_GT(seconds, 0);
  }
  Tuner again(folder.str());
  EXPECT_NEAR(again.measure(request("direct", Layout::kNhwc)).seconds, seconds, 1e-5 * seconds);
}

TEST_F(TunerTest, takes_no_timings_of_another_version) {
  const TemporaryFolder folder;
  { EXPECT_GT(Tuner(folder.str()).measure(request("direct", Layout::kNhwc)).seconds, 0); }
  const std::string path = std::filesystem::directory_iterator(folder.str())->path();
  const std::string written = content_of(path);
  const size_t end = written.find('\n');
  EXPECT_EQ(written.substr(0, 6), "tpack ");
  EXPECT_NE(written.substr(0, end).find(" oneDNN "), std::string::npos);
  const std::string timing = written.substr(written.find(' ', end));  // without its first number
  const auto read_under = [&](const std::string& header) {
    write_content(path, header + "\n12345" + timing);
    Tuner tuner(folder.str());
    return tuner.measure(request("direct", Layout::kNhwc)).seconds;
  };
  EXPECT_EQ(read_under(written.substr(0, end)), 12345);
  EXPECT_LT(read_under("tpack 0.0.1 oneDNN 2.6.0"), 12345);
}

TEST_F(TunerTest, calls_impossible_what_cannot_be_had) {
  Tuner tuner("");
  EXPECT_TRUE(std::isinf(tuner.measure(request("winograd", Layout::kNhwc)).seconds));
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
  EXPECT_NE(cpu_name().find('/'), std::string::npos);
  EXPECT_EQ(cpu_name(), cpu_name());
}

}  // namespace
}  // namespace tpack::cpu
