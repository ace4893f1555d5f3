#include <gmock/gmock-matchers.h>

#include "core/text.h"
#include "reports/live_view.h"
#include "support/program_runner.h"
#include "support/pseudo_terminal.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::program;
using testing_cli::tpack;

class Top : public testing::Test {
 protected:
  Top() {
    for (const std::string run : {"a", "b"}) {
      std::filesystem::create_directories(folder_ / run);
      write_content(folder_ / run + "/stats.json",
                    "[{\"cost\": 4, \"samples_per_s\": 80, \"epoch_num\": 1, \"global_step\": 10},\n"
                    " {\"cost\": 1, \"validation_cost\": 2, \"samples_per_s\": 160, \"epoch_num\": 2, "
                    "\"global_step\": 20}]");
      write_content(folder_ / run + "/log.txt", "[1123 12:00:00] saved model-20.h5\n");
      write_content(folder_ / run + "/config.yaml", "max_epoch: 5\n");
    }
    write_content(folder_ / "a/exit.json", R"({"exit_code": 0, "reason": "max_epoch 5 is done"})");
    write_content(folder_ / "b/exit.json", R"({"exit_code": 6, "reason": "the cost is nan"})");
  }
  /// The runs are named relative to the folder, whose name differs each time.
  std::string frame(const std::vector<std::string>& runs, TerminalSize size, int turns = 0) const {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.str());
    LiveView view(runs);
    view.refresh(0);
    for (int i = 0; i < std::abs(turns); ++i) view.turn(turns);
    std::string text = view.frame(size, Colors::kNo);
    std::filesystem::current_path(before);
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(Top, one_frame_of_a_run) {
  EXPECT_EQ(frame({"a"}, {72, 14}),
            "run  state     epoch  step  samples/s  left  last message\n"
            "---  --------  -----  ----  ---------  ----  -----------------\n"
            "a    finished    2/5    20        160        saved model-20.h5\n"
            "* cost   o validation_cost\n"
            "4 ┤                                  ***                                \n"
            "  │                                     ******                          \n"
            "  │                                           ******                    \n"
            "  │                                                 *****               \n"
            "2 ┤                                                      ******        o\n"
            "  │                                                            ******   \n"
            "  │                                                                  ***\n"
            "  └─────────────────────────────────────────────────────────────────────\n"
            "   0                5               10               15             step\n"
            "chart 1 of 4: cost, validation_cost\n");
}

TEST_F(Top, prints_one_frame_without_a_terminal) {
  const Outcome outcome = tpack({"top", folder_ / "a", folder_ / "b"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the cost is nan"));
  EXPECT_THAT(outcome.out, HasSubstr("validation_cost " + folder_ / "b"));
  EXPECT_EQ(last_line(outcome.out), "chart 1 of 4: cost, validation_cost");
  EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 24);
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));
}

TEST_F(Top, charts_can_be_turned_in_both_directions) {
  const auto last = [&](int turns) { return last_line(frame({"a"}, {80, 24}, turns)); };
  EXPECT_EQ(last(0), "chart 1 of 4: cost, validation_cost");
  EXPECT_EQ(last(1), "chart 2 of 4: cost");
  EXPECT_EQ(last(2), "chart 3 of 4: samples_per_s");
  EXPECT_EQ(last(4), "chart 1 of 4: cost, validation_cost");
  EXPECT_EQ(last(-1), "chart 4 of 4: validation_cost");
}

TEST_F(Top, fits_into_every_terminal) {
  for (int columns = 1; columns <= 100; columns += 9) {
    for (int rows = 4; rows <= 40; rows += 3) {
      const std::string text = frame({"a", "b"}, {columns, rows});
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), std::max(rows, 5)) << columns << " x " << rows;
      for (const std::string& line : split(text, '\n'))
        EXPECT_LE(character_count(line), static_cast<size_t>(columns)) << columns << " x " << rows << line;
    }
  }
}

TEST_F(Top, takes_the_folder_of_a_sweep) {
  const Outcome outcome = tpack({"top", folder_.str()});
  EXPECT_THAT(outcome.out, HasSubstr(folder_ / "a"));
  EXPECT_THAT(outcome.out, HasSubstr(folder_ / "b"));
}

TEST_F(Top, needs_runs) {
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(
      tpack({"top", folder_ / "empty"}).err,
      "error: " + folder_ / "empty" + ": has no run; name a run folder of tpack train or tpack sweep\n");
  const Outcome none = tpack({"top", folder_ / "none"});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err, "error: " + folder_ / "none" + ": no such run folder\n");
}

TEST_F(Top, in_a_terminal_has_keys) {
  PseudoTerminal terminal({program(), "top", folder_ / "a"}, 100, 30);
  ASSERT_TRUE(terminal.wait_for("chart 1 of 4"));
  terminal.press("n");
  ASSERT_TRUE(terminal.wait_for("2"));
  terminal.press("q");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Top, in_a_terminal_draws_what_is_new_and_resizes) {
  PseudoTerminal terminal({program(), "top", folder_ / "a"}, 100, 30);
  ASSERT_TRUE(terminal.wait_for("chart 1 of 4"));
  write_content(folder_ / "a/log.txt", "[1123 12:00:01] 7777777\n");
  ASSERT_TRUE(terminal.wait_for("7777777"));
  terminal.resize(80, 20);
  ASSERT_TRUE(terminal.wait_for("chart 1 of 4")) << "the whole frame in its new place";
  terminal.press("\003");
  EXPECT_EQ(terminal.wait(), 130);
}

}  // namespace
}  // namespace tpack
