#include <fstream>
#include <poll.h>
#include <set>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "support/captured_log.h"
#include "support/live_fields.h"
#include "support/own_process.h"
#include "support/paths.h"

namespace tpack {
namespace {

using testing::HasSubstr;

const live::Fields kPipeFields(
    "source", "PipeData",
    {.base =
         "{command: [sh, -c, 'printf \"{\\\"a\\\": 7, \\\"b\\\": 8}\\n{\\\"a\\\": 3, \\\"b\\\": 4}\\n\"']}",
     .values = {{"command", "[sh, -c, 'echo \"{\\\"a\\\": $TPACK_SKIP}\"']"},
                {"components", "{x: b}"},
                {"size", "1"}},
     .left_out = {{"resume", "a resumed pass; continues_in_the_middle_of_a_pass tests it"}}});

class PipeDataTest : public testing::Test {
 protected:
  /// A flow of the samples that a shell script writes.
  DataFlow script(const std::string& text, const std::string& settings = "",
                  const std::string& more = "") const {
    const std::string path = folder_.write_text("samples.sh", text);
    return folder_.flow("[{PipeData: {command: [sh, " + path + "]" + settings + "}}" + more + "]");
  }
  TempFolder folder_;
};

std::vector<double> first_numbers(const DataFlow& flow, const Pass& pass = {}) {
  std::vector<double> all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) all.push_back(d.to_tensor(0).at(0));
  return all;
}

std::string numbered(const std::string& from = "0", const std::string& to = "9") {
  return "for k in $(seq " + from + " " + to + "); do echo \"{\\\"k\\\": $k}\"; done\n";
}

TEST_F(PipeDataTest, reads_numbers_lists_texts_and_bytes) {
  const DataFlow flow = script(
      R"(printf '{"a": 7, "b": 1.5, "c": [[1, 2, 3], [4, 5, 6]], "kind": "dog", "raw": {"dtype": "int16", "shape": [2]}, "yes": true}\n\001\000\002\001')",
      ", components: {a: a, b: b, c: c, kind: {field: kind, classes: [cat, dog]}, raw: raw, yes: yes}");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(),
            "a int32 [], b float32 [], c int32 [2, 3], kind int32 [], raw int32 [2], yes bool []");
  Datapoint d;
  const auto cursor = flow.open({});
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.tensor(0).at(0), 7);
  EXPECT_EQ(d.tensor(1).at(0), 1.5);
  EXPECT_EQ(d.tensor(2).at(5), 6);
  EXPECT_EQ(d.tensor(3).at(0), 1);
  EXPECT_EQ(d.tensor(4).at(1), 258);
  EXPECT_FALSE(cursor->next(d));
}

TEST_F(PipeDataTest, reads_the_example_in_python) {
  const DataFlow flow = folder_.flow("[{PipeData: [python3, " + source_folder() +
                                     "/tests/python/write_samples.py]}, {BatchData: 5}]");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [5, 4, 4, 3], numbers float32 [5, 2], label int32 [5]");
  std::set<double> seen;
  auto stream = flow.stream({.seed = 3, .passes = 1});
  while (auto batch = stream->next()) {
    for (int64_t row = 0; row < 5; ++row) {
      const double k = batch->tensor(0).at(row * 48);
      seen.insert(k);
      EXPECT_EQ(batch->tensor(1).at(row * 2 + 1), k / 2);
      EXPECT_EQ(batch->tensor(2).at(row), static_cast<int>(k) % 10);
    }
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST_F(PipeDataTest, tells_the_program_seed_and_pass) {
  const DataFlow flow = script("echo \"{\\\"k\\\": [$TPACK_SEED, $TPACK_PASS, $TPACK_SKIP]}\"");
  const auto cursor = flow.open({.seed = 12, .pass = 3});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.tensor(0).at(0), 12);
  EXPECT_EQ(d.tensor(0).at(1), 3);
  EXPECT_EQ(d.tensor(0).at(2), 0);
}

TEST_F(PipeDataTest, continues_in_the_middle_of_a_pass) {
  const std::vector<double> rest{6, 7, 8, 9};
  const DataFlow replayed = script(numbered());
  replayed.prepare();
  EXPECT_EQ(replayed.seek(), Seek::kReplayReads);
  EXPECT_EQ(first_numbers(replayed, {.position = 6}), rest);
  const DataFlow skipped = script(numbered("$TPACK_SKIP"), ", resume: skip");
  skipped.prepare();
  EXPECT_EQ(skipped.seek(), Seek::kExact);
  EXPECT_EQ(first_numbers(skipped, {.position = 6}), rest);
  EXPECT_EQ(first_numbers(skipped, {.shard = 1, .shard_count = 2}), (std::vector<double>{1, 3, 5, 7, 9}));
  const DataFlow refused = script(numbered(), ", resume: refuse");
  refused.prepare();
  EXPECT_EQ(refused.seek(), Seek::kNone);
}

TEST_F(PipeDataTest, ends_an_endless_program_and_what_it_started) {
  const std::string ids = folder_.path("ids");
  const DataFlow flow = script("echo $$ >> " + ids + "; sleep 1000 & echo $! >> " + ids +
                                   "; k=0; while :; do echo \"{\\\"k\\\": $k}\"; k=$((k+1)); done",
                               ", size: 4");
  EXPECT_EQ(first_numbers(flow), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(flow.size(), 4);
  std::ifstream file(ids);
  for (pid_t id = 0; file >> id;) {
    const auto process = static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
    if (process < 0) continue;  // nothing is left of it
    constexpr int kMostMs = 5000;
    pollfd end{process, POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, kMostMs), 1) << id;
    ::close(process);
  }
}

TEST_F(PipeDataTest, a_stream_does_not_wait_for_a_silent_program) {
  const DataFlow flow = script("echo '{\"k\": 0}'; sleep 1000", "", ", {BatchData: 1}");
  auto stream = flow.stream({});
  EXPECT_TRUE(stream->next());
}

TEST_F(PipeDataTest, closed_passes_leave_no_process_and_no_file) {
  const DataFlow flow = script(numbered());
  const auto use = [&](int64_t n) {
    const auto cursor = flow.open({.pass = n});
    Datapoint d;
    for (int64_t left = n % 3 == 0 ? 100 : n % 3; left > 0 && cursor->next(d); --left) continue;
  };
  flow.prepare();
  use(0);
  const size_t files_before = open_files();
  const size_t threads_before = threads();
  for (int64_t n = 0; n < 50; ++n) use(n);
  EXPECT_LE(open_files(), files_before);
  EXPECT_LE(threads_left(threads_before), threads_before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child process is left";
}

TEST_F(PipeDataTest, a_cache_of_an_earlier_run_is_named) {
  const auto caches = [&] { return first_numbers(script(numbered(), "", ", CacheData: {dir: cache}")); };
  caches();
  const CapturedLog log;
  caches();
  EXPECT_TRUE(says(log.text(),
                   {"CacheData: reads", "if the program or the server gives other samples now, delete it"}));
}

TEST_F(PipeDataTest, what_it_says_when_its_output_is_closed_is_not_logged) {
  const DataFlow flow = script(
      "trap 'echo broken pipe >&2; exit 1' TERM PIPE\n"
      "echo '{\"k\": 1}'; while :; do echo '{\"k\": 2}' || exit; done\n",
      ", size: 5");
  const CapturedLog log;
  EXPECT_EQ(first_numbers(flow).size(), 5U);
  EXPECT_EQ(log.text().find("broken pipe"), std::string::npos) << log.text();
}

TEST_F(PipeDataTest, says_how_a_program_failed) {
  const auto error = [&](const std::string& text, const std::string& settings = "") {
    return error_of([&] { first_numbers(script(text, settings)); });
  };
  EXPECT_THAT(error("echo '{\"k\": 1}'; echo the reason >&2; exit 3"),
              AllOf(HasSubstr("exit code 3"), HasSubstr("sample 1"), HasSubstr("the reason")));
  EXPECT_THAT(error("echo '{\"k\": 1}'; kill -9 $$"), HasSubstr("signal 9"));
  EXPECT_THAT(error("echo '{\"k\": {\"bytes\": 9}}'; echo 123"), HasSubstr("in the middle of sample 0"));
  EXPECT_THAT(error("echo '{\"k\": 1}'; printf '{\"k\"'"), HasSubstr("in the middle of sample 1"));
  EXPECT_THAT(error("true"), HasSubstr("wrote no sample"));
  EXPECT_THAT(error("echo hello"), AllOf(HasSubstr("line of JSON"), HasSubstr("'hello'")));
  EXPECT_THAT(error(numbered(), ", size: 12"),
              AllOf(HasSubstr("wrote 10 samples"), HasSubstr("'size' is 12")));
  EXPECT_THAT(error("echo '{\"k\": 1}'; echo '{\"k\": [1, 2]}'"), HasSubstr("int64 [2]"));
  EXPECT_THAT(error("echo '{\"k\": 1}'; echo '{\"x\": 1}'"), HasSubstr("no field 'k'"));
  EXPECT_THAT(error_of([&] { folder_.flow("[{PipeData: [no_such_program_here]}]").prepare(); }),
              HasSubstr("no such program"));
}

}  // namespace
}  // namespace tpack
