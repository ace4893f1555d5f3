#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "agents/agent_source.h"
#include "cli/commands.h"
#include "cli/data_serve.h"
#include "cli/options.h"
#include "config/merge.h"
#include "config/overrides.h"
#include "core/clock.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "data_tools/augmented_samples.h"
#include "data_tools/contact_sheet.h"
#include "data_tools/convert.h"
#include "data_tools/data_check.h"
#include "data_tools/flow_inspection.h"
#include "data_tools/flow_speed.h"
#include "data_tools/sample_images.h"
#include "data_tools/scan_report.h"
#include "data_tools/table_schema.h"
#include "experiment/experiment.h"
#include "records/record_layouts.h"
#include "sources/dataset/fetch_dataset.h"
#include "system/log.h"
#include "system/terminal.h"

namespace tpack {
namespace {

struct InspectOptions {
  ConfigArguments config;
  std::string flow;
  std::string png;
  std::string images;  // folder
  int samples = 3;
  int augment = 0;  // draws of each sample; 0: the unchanged flow
  bool json = false;
};

/// The flow whose images are shown.
std::string flow_to_show(const InspectOptions& o, const Experiment& e) {
  if (!o.flow.empty()) return o.flow;
  return e.flows.contains("train") ? "train" : e.flows.begin()->first;
}

/// Several draws of the augmentors for each of the first samples.
int inspect_draws(const InspectOptions& o, const Experiment& e) {
  const std::string name = flow_to_show(o, e);
  const DataFlow& flow = e.flow(name);
  AugmentedSamples drawn =
      augmented_samples(flow, o.samples, o.augment, static_cast<uint64_t>(e.config.seed));
  const FlowInspection report = inspect_samples(name, flow, drawn.spec, drawn.draws);
  if (o.json)
    std::cout << nlohmann::ordered_json::array({report.to_json()}).dump(1) << "\n";
  else
    std::cout << printable_lines(report.str()) << "\n";
  if (!o.png.empty()) {
    write_image_sheet(captioned_images(drawn.spec, drawn.draws), o.png, o.augment, legend_of(drawn.spec));
    log::info("wrote " + std::to_string(o.augment) + " draws of each sample of " + name +
              ", one row per sample");
  }
  return 0;
}

int inspect(const InspectOptions& o) {
  reject_overwriting("--png", o.png, std::vector{o.config.file});
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  if (e.flows.empty())
    throw ConfigError(e.source.root.position(), "'data' is missing; there is no flow to inspect");
  if (o.augment > 0) return inspect_draws(o, e);
  const auto seed = static_cast<uint64_t>(e.config.seed);
  auto all = nlohmann::ordered_json::array();
  if (!o.flow.empty()) e.flow(o.flow);
  for (const auto& [name, flow] : e.flows) {
    if (!o.flow.empty() && o.flow != name) continue;
    const FlowInspection report = inspect_flow(name, flow, seed, o.samples);
    if (o.json) {
      all.push_back(report.to_json());
    } else {
      std::cout << printable_lines(report.str()) << "\n";
    }
  }
  if (o.json) std::cout << all.dump(1) << "\n";
  if (!o.png.empty() || !o.images.empty()) {
    const std::string name = flow_to_show(o, e);
    if (!o.png.empty()) write_contact_sheet(e.flow(name), o.png, {.seed = seed});
    if (!o.images.empty()) write_sample_images(e.flow(name), o.images, o.samples, seed);
    log::info("wrote the first images of " + name);
  }
  return 0;
}

struct ReportOptions {
  ConfigArguments config;
  std::string flow;
  bool json = false;
};

/// Progress of a scan on stderr: a redrawn line on a terminal, elsewhere a line every 10 s.
class ScanProgress {
 public:
  /// `what`: "data.train: read".
  ScanProgress(std::string what, std::optional<int64_t> size) : what_(std::move(what)), size_(size) {}
  ~ScanProgress() {
    if (on_terminal_) log::end_redrawn();
  }
  ScanProgress(const ScanProgress&) = delete;
  ScanProgress& operator=(const ScanProgress&) = delete;

  void show(int64_t done) {
    constexpr double kRedrawSeconds = 0.2;
    constexpr double kLineSeconds = 10;
    const double now = monotonic_s();
    if (now - shown_s_ < (on_terminal_ ? kRedrawSeconds : kLineSeconds)) return;
    shown_s_ = now;
    const std::string of = size_ ? " of " + with_thousands(*size_) : "";
    const std::string line = what_ + " " + with_thousands(done) + of + " samples";
    if (!on_terminal_) return log::info(line);
    const auto columns = static_cast<size_t>(terminal_size(STDERR_FILENO).columns);
    log::redraw(std::string_view(line).substr(0, columns - 1));
  }

 private:
  std::string what_;
  std::optional<int64_t> size_;
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  double shown_s_ = monotonic_s();
};

/// Reads the samples of the requested flow, or of all flows of a config that are not parts of others;
/// data.train first. Errors: ConfigError, DataError.
std::vector<FlowScan> scan_flows(const ReportOptions& o, ScanOptions::Hashes hashes) {
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  if (e.flows.empty())
    throw ConfigError(e.source.root.position(), "'data' is missing; there is no flow to read");
  std::vector<std::string> names = o.flow.empty() ? whole_flows(e.config.data) : std::vector{o.flow};
  std::vector<FlowScan> scans;
  for (const std::string& name : names) {
    const DataFlow& flow = e.flow(name);
    const FlowPtr source = stored_samples(flow);
    if (o.flow.empty() && source->size() == kEndless) {
      log::info("data." + name + " never ends, so it is skipped");
      continue;
    }
    ScanProgress progress("data." + name + ": read", source->size());
    ScanOptions options{.workers = WorkerCount{}.resolved(), .hashes = hashes};
    options.progress = [&progress](int64_t done) { progress.show(done); };
    scans.push_back(scan_flow(name, flow, options));
  }
  if (scans.empty())
    throw ConfigError(e.source.root.position(), "no flow of 'data' ends, so there is nothing to check");
  return scans;
}

int check_data(const ReportOptions& o) {
  const DataCheck report = compare_samples(scan_flows(o, ScanOptions::Hashes::kYes));
  if (o.json)
    std::cout << report.to_json().dump(1) << "\n";
  else
    std::cout << printable_lines(report.str());
  std::cout << std::flush;  // both may go to one file
  const std::string failure = report.failure();
  if (!failure.empty())
    throw DataError(
        failure + "; remove or repair them" +
        (failure.find("cannot be read") == std::string::npos
             ? ""
             : " (or write the flow as {on_error: skip, flow: [...]} to skip unreadable samples)"));
  return 0;
}

int show_stats(const ReportOptions& o) {
  const std::vector<FlowScan> scans = scan_flows(o, ScanOptions::Hashes::kNo);
  if (o.json) {
    auto all = nlohmann::ordered_json::array();
    for (const FlowScan& scan : scans) all.push_back(scan_json(scan));
    std::cout << all.dump(1) << "\n";
  } else {
    std::cout << printable_lines(scans_text(scans));
  }
  for (const FlowScan& scan : scans)
    if (!scan.unread.empty())
      log::warning("data." + scan.name + ": " + with_thousands(std::ssize(scan.unread)) +
                   " samples cannot be read; `tpack data check` lists them");
  return 0;
}

struct BenchArguments {
  ConfigArguments config;
  std::string flow = "train";
  SpeedOptions speed;
  bool json = false;
};

int bench_data(const BenchArguments& o) {
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  const DataFlow& flow = e.flow(o.flow);
  flow.prepare();
  if (agent_source_of(*flow.flow()) != nullptr)
    throw ConfigError(
        flow.origin(),
        "data." + o.flow + " plays with the model, so it cannot be read alone; use tpack bench");
  SpeedOptions options = o.speed;
  options.seed = static_cast<uint64_t>(e.config.seed);
  const FlowSpeed speed = measure_flow(o.flow, flow, options);
  if (o.json)
    std::cout << speed.to_json().dump(1) << "\n";
  else
    std::cout << printable_lines(speed.str());
  return 0;
}

struct ConvertArguments {
  ConfigArguments config;
  std::string out;
  std::string flow = "train";
  std::optional<uint64_t> shuffle;
  bool maps = false;
};

int convert(const ConvertArguments& o) {
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  const DataFlow& flow = e.flow(o.flow);
  flow.prepare();
  if (!o.maps && !maps_before_batches(flow).empty())
    log::info("the file gets the samples as they are stored; with --maps, as the maps of data." + o.flow +
              " make them");
  ConvertOptions options{
      .out = o.out, .shuffle = o.shuffle, .maps = o.maps, .workers = WorkerCount{}.resolved()};
  Converted result;
  const double begin_s = monotonic_s();
  {
    ScanProgress progress("data." + o.flow + ": wrote", stored_samples(flow)->size());
    options.progress = [&progress](int64_t done) { progress.show(done); };
    result = convert_flow(flow, options);
  }
  if (result.continued_at > 0)
    log::info(with_thousands(result.continued_at) +
              " of the samples were there already, from an earlier call");
  std::cout << with_thousands(result.samples) << " samples of data." << o.flow << " in "
            << human_duration(monotonic_s() - begin_s) << "; in a config: " << result.source << "\n";
  return 0;
}

int index(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const int64_t records = index_records(file);
    std::cout << index_path(file) << ": " << with_thousands(records) << " records\n";
  }
  return 0;
}

struct SchemaOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;  // KEY=YAML
  bool yaml = false;
  bool json = false;
};

int show_schema(const SchemaOptions& o) {
  std::vector<ConfigNode> files;
  for (const std::string& file : o.files) files.emplace_back(file);
  ConfigNode settings({{"file", files.size() == 1 ? files[0] : ConfigNode::list(files)}});
  const FieldType structure = FieldType::section(csv_schema().fields(), "settings of source CSV");
  NodeBudget budget;
  Diagnostics errors;
  for (const std::string& text : o.settings)
    settings = merge(settings, parse_override(text, budget), structure, errors);
  errors.throw_if_any();
  const ConfigNode all = settings.with("columns", ConfigNode({{"x", kAutoWord}}));
  const TableSchema schema = table_schema(csv_schema().parse(all, "source CSV"));
  if (o.json)
    std::cout << schema.to_json().dump(1) << "\n";
  else
    std::cout << (o.yaml ? schema.yaml(settings) : printable_lines(schema.str()));
  return 0;
}

void add_schema_command(CLI::App& command, Action& action) {
  CLI::App* schema_command = command.add_subcommand(
      "schema", "Show the columns of a table (CSV or JSON lines), and how `auto` would treat them");
  auto options = std::make_shared<SchemaOptions>();
  schema_command->add_option("files", options->files, "the files of the table")->required();
  schema_command
      ->add_option("--set", options->settings,
                   "a setting of source CSV, such as delimiter=tab or types.age=number; may be repeated")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  add_json_flag(*schema_command, options->json);
  schema_command->add_flag("--yaml", options->yaml, "print the source for a config, with all types")
      ->excludes("--json");
  schema_command->callback([options, &action] { action = [options] { return show_schema(*options); }; });
}

void add_convert_command(CLI::App& command, Action& action) {
  CLI::App* convert_command = command.add_subcommand(
      "convert",
      "Write the stored samples of a flow, before maps and batches, into a file of records; an interrupted "
      "call goes on when it is repeated");
  auto options = std::make_shared<ConvertArguments>();
  add_config_arguments(*convert_command, options->config);
  convert_command
      ->add_option("out", options->out,
                   "the file to write; its ending chooses the format: " + record_endings() +
                       ". part-{000..127}.tar divides the samples among 128 files")
      ->required();
  convert_command->add_option("--flow", options->flow, "the flow")->capture_default_str();
  convert_command->add_option("--shuffle", options->shuffle,
                              "write the samples in a random order, from this seed, so that they can be read "
                              "in blocks");
  convert_command->add_flag("--maps", options->maps,
                            "apply the maps before BatchData, such as a Resize: what they make is written");
  convert_command->callback([options, &action] { action = [options] { return convert(*options); }; });
}

void add_bench_command(CLI::App& command, Action& action) {
  CLI::App* bench_command = command.add_subcommand("bench",
                                                   "Read a flow as training does, and show its rate, the "
                                                   "time of each part, how full its queue is, and how "
                                                   "many processors a network needs for its data");
  auto options = std::make_shared<BenchArguments>();
  add_config_arguments(*bench_command, options->config);
  bench_command->add_option("--flow", options->flow, "the flow")->capture_default_str();
  CLI::Option* seconds =
      bench_command->add_option("--seconds", options->speed.seconds, "the length of each of the three reads")
          ->capture_default_str()
          ->check(CLI::Range(0.001, 86400.0));
  bench_command->add_option("--samples", options->speed.samples, "read this many samples each time instead")
      ->check(count_from(1))
      ->excludes(seconds);
  bench_command->add_option("--workers", options->speed.workers, "threads; default: those of the flow")
      ->check(CLI::Range(1, 1024));
  bench_command->add_option("--need", options->speed.need, "samples per second that the network takes")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_json_flag(*bench_command, options->json);
  bench_command->callback([options, &action] { action = [options] { return bench_data(*options); }; });
}

void add_index_command(CLI::App& command, Action& action) {
  CLI::App* index_command = command.add_subcommand(
      "index",
      "Write next to TFRecord files and tar archives where their records are, so that they open at once");
  auto files = std::make_shared<std::vector<std::string>>();
  index_command->add_option("files", *files, "the files")->required();
  index_command->callback([files, &action] { action = [files] { return index(*files); }; });
}

int fetch(FetchOptions o) {
  const char* const datasets = std::getenv("TPACK_DATASET");
  if (o.dir.empty() && datasets != nullptr) o.dir = datasets;
  if (o.dir.empty())
    throw ConfigError(
        "set --dir (or TPACK_DATASET) to the folder of your datasets; the files go to a folder in it");
  const FetchedDataset fetched = fetch_dataset(o);
  for (const std::string& path : fetched.paths) std::cout << path << "\n";
  if (!fetched.unpack.empty()) {
    const std::string folder = fetched.paths[0].substr(0, fetched.paths[0].rfind('/'));
    log::info("to unpack, type: cd " + folder + " && " + fetched.unpack);
  }
  log::info("in a config: - " + fetched.config);
  return 0;
}

void add_fetch_command(CLI::App& command, Action& action) {
  CLI::App* fetch_command = command.add_subcommand(
      "fetch",
      "Download the files of a dataset with curl, and compare their digests; nothing else downloads");
  auto options = std::make_shared<FetchOptions>();
  fetch_command->add_option("name", options->dataset, "the source that reads it, such as Cifar10")
      ->required();
  fetch_command->add_option(
      "--dir", options->dir,
      "the folder of your datasets; the files go to a folder in it; default: TPACK_DATASET");
  fetch_command->add_option("--url", options->url,
                            "download URL/FILE instead of the published addresses, such as from a mirror");
  fetch_command->callback([options, &action] { action = [options] { return fetch(*options); }; });
}

void add_report_command(CLI::App& command, Action& action, const char* name, const char* help,
                        int (*run)(const ReportOptions&)) {
  CLI::App* report = command.add_subcommand(name, help);
  auto options = std::make_shared<ReportOptions>();
  add_config_arguments(*report, options->config);
  report->add_option("--flow", options->flow, "only this flow");
  add_json_flag(*report, options->json);
  report->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
}

void add_data_options(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  CLI::App* inspect_command =
      command.add_subcommand("inspect", "Show the components of flows, and their first items");
  auto options = std::make_shared<InspectOptions>();
  add_config_arguments(*inspect_command, options->config);
  inspect_command->add_option("--flow", options->flow, "only this flow");
  inspect_command
      ->add_option("--samples", options->samples,
                   "batches (or single samples) to show; with --images, images to write")
      ->capture_default_str()
      ->check(count_from(0));
  inspect_command->add_option("--png", options->png,
                              "write the first images to this file, as one sheet, with masks over them");
  CLI::Option* images = inspect_command->add_option(
      "--images", options->images, "write the first images to this folder, NUMBER-LABEL.png");
  inspect_command
      ->add_option("--augment", options->augment,
                   "show each of the first samples this many times, each time with new random augmentations; "
                   "with --png, one row per sample")
      ->check(count_from(1))
      ->excludes(images);
  add_json_flag(*inspect_command, options->json);
  add_report_command(
      command, action, "check",
      "Read every stored sample once, and list unreadable samples, duplicates within and between flows, "
      "sizes, classes and numbers; exit code 3 if samples are unreadable, or images are in several flows",
      check_data);
  add_report_command(command, action, "stats",
                     "Show the number, sizes, classes, means and deviations of the stored samples, and the "
                     "layer that normalizes them",
                     show_stats);
  add_schema_command(command, action);
  add_bench_command(command, action);
  add_convert_command(command, action);
  add_index_command(command, action);
  add_fetch_command(command, action);
  add_serve_commands(command, action);
  inspect_command->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

const Subcommand kDataCommand("data", "Inspect and check the data of a config, or a table", add_data_options);

}  // namespace

}  // namespace tpack
