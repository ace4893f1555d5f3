#include "cli/data_serve.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/signals.h"
#include "core/error.h"
#include "core/text.h"
#include "experiment/experiment.h"
#include "remote/flow_server.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

struct ServeOptions {
  ConfigArguments config;
  std::string flow = "train";
  std::vector<std::string> bind;
  std::string key;  // file
  std::string part = "1/1";
};

constexpr const char* kPublicLine = "public: ";
constexpr const char* kSecretLine = "secret: ";

/// The secret key of a file of `tpack data keys`. Errors: DataError.
std::string secret_key_of(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text) throw DataError(path, "cannot be read");
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with(kSecretLine)) continue;
    try {
      return CurveKeys::of_secret(std::string(trim(line.substr(std::strlen(kSecretLine))))).secret_key;
    } catch (const DataError& error) {
      throw DataError(path, std::string("its secret ") + error.what());
    }
  }
  throw DataError(path, "has no line 'secret: ...'; write a file with `tpack data keys`");
}

/// "2/3": the second of three parts. Errors: ConfigError.
void take_part(const std::string& text, ServerSettings& settings) {
  const std::vector<std::string> numbers = split(text, '/');
  const auto number = [](const std::string& one) -> int64_t {
    constexpr size_t kMostDigits = 4;
    const bool fits =
        !one.empty() && one.size() <= kMostDigits && one.find_first_not_of("0123456789") == std::string::npos;
    return fits ? std::stoi(one) : 0;
  };
  const int64_t part = numbers.size() == 2 ? number(numbers[0]) : 0;
  settings.parts = numbers.size() == 2 ? number(numbers[1]) : 0;
  settings.part = part - 1;
  if (part < 1 || part > settings.parts)
    throw ConfigError("--part '" + text + "' is not K/N, such as 1/3 and 2/3 and 3/3 for three servers");
}

int serve(const ServeOptions& o) {
  ServerSettings settings;
  take_part(o.part, settings);
  for (const std::string& address : o.bind) settings.addresses.push_back(message_address(address));
  if (!o.key.empty()) settings.secret_key = secret_key_of(o.key);
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  SignalWatcher signals({.next = "telling the clients", .says_early_end = false});
  FlowServer server(e.flow(o.flow), settings);
  signals.expect_orderly_end();
  for (const std::string& address : server.addresses()) {
    std::cout << "serving data." << o.flow << " at " << address << "\n" << std::flush;
    if (settings.secret_key.empty() && !is_local_address(address))
      log::warning("anyone who reaches " + address + " can read data." + o.flow +
                   ", and nothing is encrypted; --key FILE (of `tpack data keys`) encrypts");
  }
  log::info(server.spec().samples.str() +
            (server.spec().batch > 0 ? ", in batches of " + std::to_string(server.spec().batch) : ""));
  server.run(signals.stop_token());
  log::info("sent " + with_thousands(server.samples_sent()) + " samples");
  signals.expect_end();
  return 128 + (signals.signal() == 0 ? SIGTERM : signals.signal());
}

int make_keys(const std::string& path) {
  const CurveKeys keys = CurveKeys::make();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == EEXIST)
    throw ConfigError(path + " exists; a new key would lock out its clients, so remove it first");
  const std::string text =
      std::string(kPublicLine) + keys.public_key + "\n" + kSecretLine + keys.secret_key + "\n";
  const bool is_written =
      file >= 0 && ::write(file, text.data(), text.size()) == std::ssize(text) && ::fsync(file) == 0;
  const std::string why = std::strerror(errno);
  if (file >= 0) ::close(file);
  if (!is_written) throw ResourceError(path + ": cannot be written: " + why);
  std::cout << "server_key: \"" << keys.public_key << "\"\n" << std::flush;
  log::info("wrote " + path +
            ", for `tpack data serve --key`; the line above is for RemoteData on the clients");
  return 0;
}

}  // namespace

void add_serve_commands(CLI::App& data, Action& action) {
  CLI::App* serve_command = data.add_subcommand(
      "serve", "Serve a flow over the network, for source RemoteData of other processes and machines");
  auto options = std::make_shared<ServeOptions>();
  add_config_arguments(*serve_command, options->config);
  serve_command->add_option("--flow", options->flow, "the flow")->capture_default_str();
  serve_command
      ->add_option("--bind", options->bind,
                   "a port for programs on this machine only, or an address: tcp://*:9000 for all, "
                   "tcp://192.168.0.2:9000, ipc://FILE; may be repeated")
      ->required()
      ->allow_extra_args(false);
  serve_command->add_option(
      "--key", options->key,
      "a file of `tpack data keys`: encrypts, and refuses clients without its public key");
  serve_command
      ->add_option("--part", options->part,
                   "serve only each N-th item, from the K-th on: for one of N servers of the same config")
      ->type_name("K/N")
      ->capture_default_str();
  serve_command->callback([options, &action] { action = [options] { return serve(*options); }; });

  CLI::App* keys_command =
      data.add_subcommand("keys", "Make a pair of keys for `tpack data serve`, and print the public one");
  auto file = std::make_shared<std::string>();
  keys_command->add_option("file", *file, "the file to write, which only its owner may read")
      ->required()
      ->check(not_empty());
  keys_command->callback([file, &action] { action = [file] { return make_keys(*file); }; });
}

}  // namespace tpack
