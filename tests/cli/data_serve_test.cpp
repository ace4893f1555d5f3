#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::Process;
using testing_cli::program;
using testing_cli::tpack;

/// A config, and one that reads the training data of the first from a server.
class DataServe : public testing_cli::WithTinyConfig {
 protected:
  DataServe() {
    std::string text = testing_cli::kTinyConfig;
    const size_t begin = text.find("    - FakeData");
    const size_t end = text.find('\n', begin);
    write_content(remote(), text.replace(begin, end - begin, "    - RemoteData: [\"" + address() + "\"]"));
  }
  std::string address() const { return "ipc://" + (folder_ / "socket"); }
  std::string remote() const { return folder_ / "remote.yaml"; }
  std::vector<std::string> serve(const std::vector<std::string>& more = {}) const {
    return testing_cli::joined({program(), "data", "serve", config(), "--bind", address()}, more);
  }
  Outcome train(const std::string& config, const std::string& name,
                const std::vector<std::string>& more = {}) const {
    return tpack(testing_cli::joined({"train", config, "--log-dir", folder_ / name}, more));
  }
};

TEST_F(DataServe, trains_as_with_its_own_data) {
  Process server(serve(), folder_ / "out");
  ASSERT_TRUE(server.wait_for("in batches of 4"));
  testing_cli::exits(0, train(config(), "local"));
  testing_cli::exits(0, train(remote(), "remote"));
  const auto last = [&](const std::string& run) { return folder_ / run + "/checkpoints/model-20.h5"; };
  const Outcome diff = tpack({"ckpt", "diff", last("local"), last("remote")});
  EXPECT_THAT(diff.out, HasSubstr("config/yaml"));
  EXPECT_EQ(diff.out.find("model/fc"), std::string::npos) << diff.out;
  const Outcome inspected = testing_cli::exits(0, tpack({"data", "inspect", remote(), "--flow", "train"}));
  EXPECT_THAT(inspected.out, HasSubstr("image uint8 [4, 4, 4, 1], label int32 [4]"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 128 + SIGTERM);
  EXPECT_THAT(server.err(), HasSubstr("samples"));
  const Outcome outcome = train(remote(), "late", {"--set", "data.train.0.RemoteData.reconnect_s=0"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(last_line(outcome.err), HasSubstr(address()));
}

TEST_F(DataServe, makes_keys_that_only_their_owner_can_read) {
  const std::string file = folder_ / "server.key";
  const Outcome made = testing_cli::exits(0, tpack({"data", "keys", file}));
  EXPECT_THAT(made.out, HasSubstr("server_key: \""));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(tpack({"data", "keys", file}).code, 2) << "an existing key is not overwritten";
  Process server(serve({"--key", file}), folder_ / "out");
  ASSERT_TRUE(server.wait_for("in batches of 4"));
  const std::string key = made.out.substr(made.out.find('"') + 1, 40);
  const std::vector<std::string> words = {"data", "inspect", remote(), "--flow", "train", "--set"};
  const std::string source = "data.train=[{RemoteData: {connect: [\"" + address() + "\"], reconnect_s: 2";
  EXPECT_EQ(tpack(testing_cli::joined(words, {source + ", server_key: '" + key + "'}}]"})).code, 0);
  EXPECT_EQ(tpack(testing_cli::joined(words, {source + "}}]"})).code, 3);
}

TEST_F(DataServe, refuses_wrong_options) {
  const auto error = [&](const std::vector<std::string>& more) {
    const Outcome outcome = tpack(testing_cli::joined({"data", "serve", config()}, more));
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error({"--bind", "host"}), HasSubstr("tcp://HOST:PORT"));
  EXPECT_THAT(error({"--bind", address(), "--part", "3/2"}), HasSubstr("K/N"));
  EXPECT_THAT(error({"--bind", address(), "--flow", "nothing"}), HasSubstr("nothing"));
  const Outcome no_key = tpack({"data", "serve", config(), "--bind", address(), "--key", config()});
  EXPECT_EQ(no_key.code, 3) << no_key.err;
}

}  // namespace
}  // namespace tpack
