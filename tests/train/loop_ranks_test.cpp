#include <algorithm>
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "core/stop.h"
#include "support/fake_trainer.h"
#include "support/on_ranks.h"
#include "support/temporary_folder.h"
#include "train/loop.h"
#include "train/recording_callback.h"

namespace tpack {
namespace {

/// Runs the same loop on two ranks; `make` gives the callback of each, if any.
std::vector<LoopResult> run_on_two_ranks(const std::function<std::unique_ptr<Callback>(int rank)>& make,
                                         const std::function<void(int rank, LoopOptions&)>& set = nullptr) {
  return on_ranks(2, [&](int rank, const std::unique_ptr<Comm>& world) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.trainer.on_step = [&](int64_t /*step*/) { world->agree_max(0, "the step"); };
    run.options.world = world.get();
    if (set) set(rank, run.options);
    if (auto callback = make(rank)) run.add("callback", std::move(callback));
    return run.go();
  });
}

TEST(LoopRanks, one_that_stops_stops_all_whatever_the_hook) {
  for (const char* hook : {"before_train", "before_epoch", "before_run", "after_run", "trigger_step",
                           "after_epoch", "trigger"}) {
    Record record;
    const auto results = run_on_two_ranks([&](int /*rank*/) {
      return std::make_unique<RecordingCallback>("A", record, [hook](const std::string& at, tpack::Run& run) {
        if (at == hook) run.request_stop("enough");
      });
    });
    EXPECT_EQ(results[0].ending, StopReason::kStopped) << hook;
    EXPECT_EQ(results[1].ending, StopReason::kStopped) << hook;
    EXPECT_EQ(results[0].global_step, results[1].global_step) << hook;
    EXPECT_EQ(results[0].epoch, results[1].epoch) << hook;
    EXPECT_EQ(results[0].reason, "enough") << hook;
    EXPECT_EQ(results[1].reason, "another rank stopped the run") << hook;
  }
}

TEST(LoopRanks, the_chief_alone_reports_epochs) {
  testing::internal::CaptureStderr();
  run_on_two_ranks([](int /*rank*/) { return nullptr; });
  const std::string text = testing::internal::GetCapturedStderr();
  const size_t first = text.find("Epoch 1 (global_step 2) finished");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("Epoch 1 (global_step 2) finished", first + 1), std::string::npos) << text;
}

TEST(LoopRanks, a_stop_after_the_last_epoch_changes_nothing) {
  Record record;
  const auto results = run_on_two_ranks([&](int /*rank*/) {
    return std::make_unique<RecordingCallback>("A", record, [](const std::string& at, tpack::Run& run) {
      if (at == "trigger" && run.epoch() == 2) run.request_stop("enough");
    });
  });
  EXPECT_EQ(results[0].ending, StopReason::kFinished);
  EXPECT_EQ(results[1].ending, StopReason::kFinished);
}

TEST(LoopRanks, an_interrupt_of_one_ends_all_at_the_same_step) {
  std::stop_source source;
  const auto make = [&](int rank) -> std::unique_ptr<Callback> {
    if (rank == 0) return nullptr;  // rank 1 is told; it has no chief-only callbacks
    struct Interrupting final : Callback {
      explicit Interrupting(std::stop_source& s) : Callback({.ranks = Ranks::kAll}), source(s) {}
      void after_run(tpack::Run& run) override {
        if (run.global_step() == 3) source.request_stop();
      }
      std::stop_source& source;
    };
    return std::make_unique<Interrupting>(source);
  };
  const auto results = run_on_two_ranks(make, [&](int rank, LoopOptions& options) {
    if (rank == 1) options.interrupt = source.get_token();
  });
  for (const LoopResult& result : results) {
    EXPECT_EQ(result.ending, StopReason::kInterrupted);
    EXPECT_EQ(result.global_step, 3);
  }
}

TEST(LoopRanks, an_interrupt_in_before_run_of_one_ends_all_after_the_same_step) {
  std::stop_source source;
  Record record;
  const auto make = [&](int /*rank*/) {
    return std::make_unique<RecordingCallback>("A", record, [&](const std::string& at, tpack::Run& run) {
      if (at != "before_run" || run.global_step() != 1) return;
      source.request_stop();
      throw Stopped{};
    });
  };
  const auto results = run_on_two_ranks(make, [&](int rank, LoopOptions& options) {
    if (rank == 0) options.interrupt = source.get_token();
  });
  for (const LoopResult& result : results) {
    EXPECT_EQ(result.ending, StopReason::kInterrupted);
    EXPECT_EQ(result.global_step, 2);
  }
}

/// Asks the chief for a value in each hook.
struct Asking final : Callback {
  Asking() : Callback({.ranks = Ranks::kAll}) {}
  void before_train(tpack::Run& run) override { run.of_chief(1); }
  void trigger_step(tpack::Run& run) override { run.of_chief(1); }
  void trigger(tpack::Run& run) override { run.of_all_ranks(""); }
};

/// Where a signal cuts a hook short, and what the ranks do there.
struct Cut {
  int rank;
  std::string hook;
  int64_t step;
  bool save_together;
  bool others_ask;  // in the same hook, later
};

class LoopRanksCutShort : public testing::TestWithParam<Cut> {
 protected:
  LoopResult run_rank(Comm& comm, const std::string& folder) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.trainer.is_together = GetParam().save_together;
    run.trainer.on_step = [&](int64_t /*step*/) { comm.agree_max(0, "the step"); };
    run.options.world = &comm;
    run.options.folder = folder;
    Record record;
    auto cut = std::make_unique<RecordingCallback>("A", record, [&](const std::string& at, tpack::Run& r) {
      const Cut& here = GetParam();
      if (comm.rank() == here.rank && at == here.hook && r.global_step() == here.step) throw Stopped{};
    });
    cut->take({.ranks = Ranks::kAll});
    run.add("cut", std::move(cut));
    if (GetParam().others_ask) run.add("asking", std::make_unique<Asking>());
    const LoopResult result = run.go();
    EXPECT_EQ(run.trainer.gathered, GetParam().save_together ? 1 : 0);
    return result;
  }
};

TEST_P(LoopRanksCutShort, all_end_wherever_they_wait) {
  const TemporaryFolder folder;
  const auto results = on_ranks(2, [&](int rank, const std::unique_ptr<Comm>& world) {
    return run_rank(*world, rank == 0 ? folder.str() : "");
  });
  const int64_t step = GetParam().step;
  for (const LoopResult& result : results) {
    EXPECT_EQ(result.ending, StopReason::kInterrupted);
    EXPECT_EQ(result.global_step, step);
  }
  EXPECT_EQ(checkpoint_step(folder / ("checkpoints/model-" + std::to_string(step) + ".h5")), step);
}

std::vector<Cut> all_cuts() {
  std::vector<Cut> cuts;
  const std::vector<std::pair<std::string, int64_t>> moments = {
      {"before_train", 0}, {"trigger_step", 3}, {"trigger_step", 4}, {"trigger", 2}, {"trigger", 4}};
  for (const int rank : {0, 1}) {
    for (const auto& [hook, step] : moments) {
      for (const bool save_together : {false, true}) {
        for (const bool others_ask : {false, true})
          cuts.push_back({rank, hook, step, save_together, others_ask});
      }
    }
  }
  return cuts;
}

INSTANTIATE_TEST_SUITE_P(Hooks, LoopRanksCutShort, testing::ValuesIn(all_cuts()), [](const auto& cut) {
  return "rank_" + std::to_string(cut.param.rank) + "_" + cut.param.hook + "_" +
         std::to_string(cut.param.step) + (cut.param.save_together ? "_together" : "") +
         (cut.param.others_ask ? "_asked" : "");
});

TEST(LoopRanks, leave_out_chief_only_callbacks_elsewhere) {
  Record records[2];
  run_on_two_ranks([&](int rank) { return std::make_unique<RecordingCallback>("A", records[rank]); });
  EXPECT_FALSE(records[0].empty());
  EXPECT_TRUE(records[1].empty());
}

TEST(LoopRanks, ranks_of_the_config_say_where_a_callback_runs) {
  for (const auto& [ranks, calls] : {std::pair{Ranks::kAll, 1}, {Ranks::kChief, 0}}) {
    std::vector<Record> records(2);
    run_on_two_ranks([&, where = ranks](int rank) {
      auto callback = std::make_unique<RecordingCallback>("A", records[static_cast<size_t>(rank)]);
      callback->take({.ranks = where});
      return callback;
    });
    EXPECT_EQ(std::count(records[0].begin(), records[0].end(), "A trigger 2/1/4"), 1);
    EXPECT_EQ(std::count(records[1].begin(), records[1].end(), "A trigger 2/1/4"), calls);
  }
}

/// What two ranks do whose trainers save together, if the chief asks for a checkpoint after a step.
std::vector<int64_t> gathered_on_two_ranks(int64_t checkpoint_at) {
  const TemporaryFolder folder;
  const auto gathered = on_ranks(2, [&](int rank, const std::unique_ptr<Comm>& world) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 3}, folder.str());
    run.trainer.is_together = true;
    run.options.world = world.get();
    const auto save = [&](tpack::Run& r) {
      if (r.global_step() == checkpoint_at) r.request_checkpoint({.name = "asked.h5"});
    };
    if (rank == 0) run.on_step("save", save);
    run.go();
    EXPECT_THAT(run.trainer.broadcast_at, testing::ElementsAre(3));
    return run.trainer.gathered;
  });
  EXPECT_EQ(std::filesystem::exists(folder / "checkpoints/asked.h5"), checkpoint_at > 0);
  return gathered;
}

TEST(LoopRanks, that_save_together_all_gather_for_a_checkpoint_of_the_chief) {
  EXPECT_THAT(gathered_on_two_ranks(-1), testing::ElementsAre(0, 0));
  EXPECT_THAT(gathered_on_two_ranks(2), testing::ElementsAre(1, 1));  // within an epoch
  EXPECT_THAT(gathered_on_two_ranks(6), testing::ElementsAre(1, 1));  // at its end
}

TEST(LoopRanks, a_value_of_the_chief_is_the_same_on_all) {
  std::vector<double> seen(2);
  struct Telling final : Callback {
    Telling(double value, double& into) : Callback({.ranks = Ranks::kAll}), own(value), got(into) {}
    void trigger(tpack::Run& run) override { got = run.of_chief(own); }
    double own;
    double& got;
  };
  run_on_two_ranks(
      [&](int rank) { return std::make_unique<Telling>(0.1 + rank, seen[static_cast<size_t>(rank)]); });
  EXPECT_THAT(seen, testing::ElementsAre(0.1, 0.1));
}

/// So the others wait for as long as it takes.
TEST(LoopRanks, one_is_busy_with_its_callback_except_when_it_meets_the_others_there) {
  struct Meeting final : Callback {
    explicit Meeting(Comm& comm) : Callback({.ranks = Ranks::kAll}), world(comm) {}
    void trigger(tpack::Run& run) override {
      said.push_back(world.busy());
      run.of_all_ranks("");
      said.push_back(world.busy());
      run.while_busy("something else", [&] { said.push_back(world.busy()); });
      said.push_back(world.busy());
    }
    void after_run(tpack::Run& /*run*/) override { EXPECT_EQ(world.busy(), ""); }
    Comm& world;
    std::vector<std::string> said;
  };
  on_ranks(2, [&](int /*rank*/, const std::unique_ptr<Comm>& world) {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 2});
    run.options.world = world.get();
    auto meeting = std::make_unique<Meeting>(*world);
    const Meeting& met = *meeting;
    run.add("meeting", std::move(meeting)).go();
    EXPECT_THAT(met.said, testing::ElementsAre("callback meeting", "callback meeting", "something else",
                                               "callback meeting"));
  });
}

}  // namespace
}  // namespace tpack
