#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/registry.h"
#include "monitor/monitor.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

std::unique_ptr<Monitor> sender(const std::string& params) {
  return Registry<Monitor>::make("SendMonitorData", parse_yaml(params, "s.yaml"));
}

TEST(SendMonitorData, runs_its_command_when_all_scalars_are_there) {
  const TemporaryFolder folder;
  const auto monitor =
      sender("{command: [sh, -c, 'echo \"$0\" >> \"$1\"', \"{epoch}/{step} {cost} {accuracy}\", " +
             folder / "out" + "]}");
  monitor->put_scalar("cost", 0.5, {1, 10});
  monitor->put_scalar("other", 1, {1, 10});
  EXPECT_EQ(content_of(folder / "out"), "");
  monitor->put_scalar("accuracy", 0.25, {1, 10});
  EXPECT_EQ(content_of(folder / "out"), "1/10 0.5 0.25\n");
  monitor->put_scalar("cost", 0.4, {2, 20});
  monitor->put_scalar("cost", 0.3, {2, 21});
  EXPECT_EQ(content_of(folder / "out"), "1/10 0.5 0.25\n") << "accuracy is an old value";
  monitor->put_scalar("accuracy", 0.75, {2, 21});
  EXPECT_EQ(content_of(folder / "out"), "1/10 0.5 0.25\n2/21 0.3 0.75\n");
}

TEST(SendMonitorData, says_what_it_never_got) {
  const CapturedLog log;
  const auto monitor = sender("{command: [echo, \"{cost} {acuracy}\"]}");
  monitor->put_scalar("cost", 0.5, {1, 10});
  monitor->close();
  EXPECT_TRUE(says(log.text(), {"warning: monitor SendMonitorData:"}));
}

TEST(SendMonitorData, a_failure_is_a_warning) {
  const CapturedLog log;
  sender("{command: [sh, -c, exit 2, \"{cost}\"]}")->put_scalar("cost", 0.5, {1, 10});
  EXPECT_THAT(log.text(), HasSubstr("warning: monitor SendMonitorData: 'sh -c exit 2 0.5': exit code 2\n"));
}

TEST(SendMonitorData, an_interrupt_of_the_run_ends_its_command) {
  const CapturedLog log;
  std::stop_source source;
  source.request_stop();
  const auto monitor = sender("{command: [sleep, \"{cost}\"]}");
  monitor->open({.stop = source.get_token()});
  monitor->put_scalar("cost", 1000, {1, 10});
  EXPECT_TRUE(says(log.text(), {"'sleep 1000' was ended because"}));
}

TEST(SendMonitorData, rejects_a_command_without_a_scalar) {
  EXPECT_THAT(error_from([&] { sender("{command: [echo, \"{epoch}\"]}"); }),
              HasSubstr("monitor SendMonitorData: 'command' names no scalar; write one as {NAME}"));
}

const live::Fields kSendMonitorData("monitor", "SendMonitorData",
                                    {.base = "{command: [sh, -c, \"sleep 0.1\", \"{cost}\"]}",
                                     .values = {{"command", "[\"true\", \"{cost}\"]"},
                                                {"timeout_s", "0.01"}}});

}  // namespace
}  // namespace tpack
