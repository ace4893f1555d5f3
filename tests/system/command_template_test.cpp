#include "system/command_template.h"

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "support/captured_log.h"

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(CommandTemplate, fills_in_values) {
  const CommandTemplate command({"notify", "{{\"cost\": {cost}, \"epoch\": {epoch}}}", "{cost}"}, "x");
  EXPECT_THAT(command.names(), ElementsAre("cost", "epoch"));
  EXPECT_THAT(command.filled([](const std::string& name) { return "<" + name + "; rm>"; }),
              ElementsAre("notify", "{\"cost\": <cost; rm>, \"epoch\": <epoch; rm>}", "<cost; rm>"));
}

std::string error_of(std::vector<std::string> arguments) {
  try {
    const CommandTemplate command(std::move(arguments), "callback RunCommand");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandTemplate, rejects_what_is_no_command) {
  EXPECT_EQ(error_of({}),
            "callback RunCommand: 'command' has no program; write a list such as [notify, done]");
  const std::string fix = "; write {NAME} for a value, and {{ or }} for a brace";
  EXPECT_EQ(error_of({"a", "{cost"}), "callback RunCommand: '{cost' has a '{' without a '}'" + fix);
  EXPECT_EQ(error_of({"a", "cost}"}), "callback RunCommand: 'cost}' has a '}' without a '{'" + fix);
  EXPECT_EQ(error_of({"a", "{}"}), "callback RunCommand: '{}' has braces without a name" + fix);
}

TEST(RunLogged, says_how_a_command_ended) {
  const CapturedLog log;
  EXPECT_TRUE(run_logged("callback X", {"sh", "-c", ":"}, 60));
  EXPECT_FALSE(run_logged("callback X", {"sh", "-c", "exit 7"}, 60));
  EXPECT_FALSE(run_logged("callback X", {"no-such-program-here"}, 60));
  EXPECT_THAT(log.text(), testing::HasSubstr("callback X: 'sh -c :': exit code 0\n"));
  EXPECT_THAT(log.text(), testing::HasSubstr("warning: callback X: 'sh -c exit 7': exit code 7\n"));
  EXPECT_THAT(log.text(), testing::HasSubstr("warning: callback X: cannot start 'no-such-program-here': "));
}

}  // namespace
}  // namespace tpack
