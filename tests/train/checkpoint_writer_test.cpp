#include "train/checkpoint_writer.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gmock/gmock-more-matchers.h>

#include "support/failing_file_io.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Purpose = CheckpointRequest::Purpose;

class CheckpointWriterTest : public testing::Test {
 protected:
  CheckpointRequest request(const std::string& name, Purpose purpose = Purpose::kResume) {
    return {name, purpose,
            [this, name](const std::string& path) { told_.push_back(name + " saved " + path); },
            [this, name](const Error& /*error*/) { told_.push_back(name + " failed"); }};
  }
  std::string path(const std::string& name) const { return folder_ / ("checkpoints/" + name); }
  CheckpointContent content() {
    CheckpointContent made;
    made.step = ++made_;
    made.texts["run/json"] = "{}";
    return made;
  }

  TemporaryFolder folder_;
  std::vector<std::string> told_;
  int made_ = 0;  // requested contents
};

TEST_F(CheckpointWriterTest, writes_the_best_ones_before_those_to_resume_from) {
  CheckpointWriter writer(folder_.str(), FileIo::system());
  writer.write({request("model-1.h5"), request("max-accuracy.h5", Purpose::kKeepBest)},
               [&] { return content(); });
  writer.finish();
  EXPECT_THAT(told_, ElementsAre("max-accuracy.h5 saved " + path("max-accuracy.h5"),
                                 "model-1.h5 saved " + path("model-1.h5")));
  EXPECT_EQ(load_checkpoint(path("max-accuracy.h5")).step, 1);
  EXPECT_EQ(load_checkpoint(path("model-1.h5")).step, 1);
}

TEST_F(CheckpointWriterTest, writes_one_file_for_requests_of_one_name) {
  CheckpointWriter writer(folder_.str(), FileIo::system());
  writer.write({request("model-1.h5"), request("model-1.h5")}, [&] { return content(); });
  writer.finish();
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(told_.size(), 2U);
}

/// The best checkpoint is lost although a later regular one was written.
TEST_F(CheckpointWriterTest, forgets_no_failure_because_another_file_was_written) {
  FailingFileIo io(1, ENOSPC);
  CheckpointWriter writer(folder_.str(), io);
  const CheckpointRequest best = request("max-accuracy.h5", Purpose::kKeepBest);
  writer.write({best, request("model-1.h5")}, [&] { return content(); });
  writer.finish();
  EXPECT_THAT(told_, ElementsAre("max-accuracy.h5 failed", "model-1.h5 saved " + path("model-1.h5")));
  EXPECT_TRUE(writer.lacks_a_save());
  writer.write({best}, [&] { return content(); });
  writer.finish();
  EXPECT_FALSE(writer.lacks_a_save());
}

TEST_F(CheckpointWriterTest, writes_nothing_without_a_folder_and_fails_if_it_cannot_be_made) {
  CheckpointWriter("", FileIo::system()).write({request("model-1.h5")}, [&] { return content(); });
  EXPECT_THAT(told_, IsEmpty());
  std::ofstream(folder_ / "checkpoints") << "a file is in the way";
  CheckpointWriter writer(folder_.str(), FileIo::system());
  writer.write({request("model-1.h5")}, [&] { return content(); });
  writer.finish();
  EXPECT_THAT(told_, ElementsAre("model-1.h5 failed"));
}

TEST_F(CheckpointWriterTest, reports_a_failure_and_continues_with_the_next) {
  FailingFileIo io(1, ENOSPC);
  CheckpointWriter writer(folder_.str(), io);
  writer.write({request("model-1.h5")}, [&] { return content(); });
  writer.finish();
  EXPECT_THAT(told_, ElementsAre("model-1.h5 failed"));
  EXPECT_TRUE(writer.lacks_a_save());
  writer.write({request("model-2.h5")}, [&] { return content(); });
  writer.finish();
  EXPECT_FALSE(writer.lacks_a_save());
  EXPECT_TRUE(std::filesystem::exists(path("model-2.h5")));
}

/// Opens no file before `let_go` is called.
class WaitingFileIo final : public FileIo {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    may_open_.wait();
    return FileIo::open(path, flags, mode);
  }
  void let_go() { go_.set_value(); }

 private:
  std::promise<void> go_;
  std::shared_future<void> may_open_ = go_.get_future().share();
};

TEST_F(CheckpointWriterTest, writes_what_there_was_while_the_run_goes_on) {
  WaitingFileIo io;
  CheckpointWriter writer(folder_.str(), io);
  CheckpointContent live = content();
  live.tensors["model/w"] = Tensor::of<float>({2}, {1, 2});
  live.tensors["model/mean"] = Tensor::of<float>({1}, {3});
  const Tensor mean = Tensor::of<float>({1}, {4});
  CheckpointRequest changed = request("ema.h5", Purpose::kKeepBest);
  changed.change = [&](CheckpointContent& own) { own.tensors["model/mean"] = mean; };
  writer.write({request("model-1.h5"), changed}, [&] { return live; });
  live.tensors.at("model/w").data<float>()[0] = 7;  // the next step
  mean.data<float>()[0] = 8;
  writer.report();
  EXPECT_THAT(told_, IsEmpty()) << "nothing is written yet";
  EXPECT_FALSE(std::filesystem::exists(path("model-1.h5")));
  io.let_go();
  while (told_.empty()) writer.report();  // as each step does
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_EQ(load_checkpoint(path("model-1.h5")).tensors.at("model/w").at(0), 1);
  EXPECT_EQ(load_checkpoint(path("model-1.h5")).tensors.at("model/mean").at(0), 3);
  EXPECT_EQ(load_checkpoint(path("ema.h5")).tensors.at("model/w").at(0), 1);
  EXPECT_EQ(load_checkpoint(path("ema.h5")).tensors.at("model/mean").at(0), 4);
}

TEST_F(CheckpointWriterTest, finishes_before_it_goes_away) {
  CheckpointWriter(folder_.str(), FileIo::system()).write({request("model-1.h5")}, [&] { return content(); });
  EXPECT_EQ(load_checkpoint(path("model-1.h5")).step, 1);
}

}  // namespace
}  // namespace tpack
