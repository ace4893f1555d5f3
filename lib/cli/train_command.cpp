#include <cerrno>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/option_checks.h"
#include "cli/train.h"

namespace tpack {
namespace {

struct TrainCommandOptions {
  TrainOptions train;
  std::string resume;
};

}  // namespace

void add_train_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("train", "Train the experiment of a config");
  auto options = std::make_shared<TrainCommandOptions>();
  command->add_option("config", options->train.config, "YAML file")->required();
  command->add_option("--set", options->train.overrides, "changes a value of the config; may be given again")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  command->add_option("--log-dir", options->train.log_dir, "run folder (default: train_log/NAME)")
      ->check(not_empty());
  command
      ->add_option("--resume", options->resume,
                   "auto: newest valid checkpoint; never: afresh, old content is moved away; or a file")
      ->check(not_empty());
  command->add_option("--plan", options->train.plan, "use this plan.json")->check(not_empty());
  command->add_flag("--replan", options->train.replan, "choose algorithms anew, not as the checkpoint's plan")
      ->excludes("--plan");
  command->callback([options, &action] {
    options->train.program = program_invocation_name;
    options->train.resume = ResumeRequest::parse(options->resume);
    action = [options] { return train(options->train); };
  });
}

}  // namespace tpack
