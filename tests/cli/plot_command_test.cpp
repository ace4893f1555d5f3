#include <gmock/gmock-matchers.h>

#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_cli::Outcome;
using testing_cli::tpack;

class Plot : public testing::Test {
 protected:
  Plot() {
    for (const char* run : {"a", "b"}) {
      std::filesystem::create_directories(folder_ / run);
      write_content(folder_ / (std::string(run) + "/stats.json"),
                    "[\n{\"cost\":2.0,\"accuracy\":0.1,\"epoch_num\":1,\"global_step\":10},\n"
                    "{\"cost\":null,\"validation_cost\":1.5,\"epoch_num\":2,\"global_step\":20}\n]\n");
    }
    std::filesystem::create_directories(folder_ / "empty");
  }

  TemporaryFolder folder_;
};

TEST_F(Plot, draws_in_80_columns_and_24_lines_without_a_terminal) {
  const Outcome outcome = tpack({"plot", folder_ / "a", "cost", "accuracy,validation_cost"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("─ cost\n"));
  EXPECT_THAT(outcome.out, HasSubstr("* accuracy   o validation_cost\n"));
  EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 24);
}

TEST_F(Plot, shows_what_a_validation_has_as_well) {
  const Outcome outcome = tpack({"plot", folder_ / "a"});
  EXPECT_THAT(outcome.out, HasSubstr("* cost   o validation_cost\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("accuracy")));
}

TEST_F(Plot, of_a_run_without_validation_shows_the_cost) {
  write_content(folder_ / "a/stats.json",
                R"([{"cost":2.0,"learning_rate":0.1,"samples_per_s":9,"epoch_num":1,"global_step":10}])");
  const Outcome outcome = tpack({"plot", folder_ / "a"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("─ cost\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("samples_per_s")));
}

TEST_F(Plot, writes_svg_of_several_runs) {
  const Outcome outcome =
      tpack({"plot", folder_ / "a", folder_ / "b", "cost", "--svg", folder_ / "curves.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string svg = content_of(folder_ / "curves.svg");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_THAT(svg, HasSubstr(">cost " + folder_ / "a" + "</text>"));
  EXPECT_THAT(svg, HasSubstr(">cost " + folder_ / "b" + "</text>"));
}

TEST_F(Plot, says_that_a_statistic_was_never_a_number) {
  write_content(folder_ / "a/stats.json", R"([{"cost":null,"epoch_num":1,"global_step":10}])");
  const Outcome outcome = tpack({"plot", folder_ / "a", "cost"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("cost (never a finite number)\n"));
}

TEST_F(Plot, says_which_statistics_there_are) {
  const Outcome outcome = tpack({"plot", folder_ / "a", "val_loss"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "error: unknown statistic 'val_loss'; did you mean 'validation_cost'?\n");
  EXPECT_THAT(tpack({"plot", folder_ / "a", "xyz"}).err,
              HasSubstr("unknown statistic 'xyz'; known: accuracy, cost, validation_cost"));
}

TEST_F(Plot, needs_runs_with_statistics) {
  const Outcome empty = tpack({"plot", folder_ / "empty"});
  EXPECT_EQ(empty.code, 3);
  EXPECT_EQ(empty.err, "error: " + folder_ / "empty" +
                           ": no stats.json in this folder; name a run folder of tpack train\n");
  EXPECT_EQ(tpack({"plot", folder_ / "none"}).code, 3);
  EXPECT_EQ(tpack({"plot", "none"}).err, "error: none: no such run folder\n");
  EXPECT_EQ(tpack({"plot", folder_ / "a", folder_ / "none"}).code, 3);
  write_content(folder_ / "empty/stats.json", "[{]");
  EXPECT_THAT(tpack({"plot", folder_ / "empty"}).err,
              HasSubstr("is not a file of statistics, or is damaged"));
  for (const char* text : {"[]", "[{\"epoch_num\": 1, \"global_step\": 1}]"}) {
    write_content(folder_ / "empty/stats.json", text);
    EXPECT_THAT(tpack({"plot", folder_ / "empty"}).err, HasSubstr("has no statistics yet")) << text;
  }
}

}  // namespace
}  // namespace tpack
