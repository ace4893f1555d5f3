#include "config/load_config.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "config/merge.h"
#include "config/overrides.h"
#include "config/resolve.h"
#include "config/yaml_reader.h"
#include "config/zoo.h"
#include "core/error.h"
#include "core/substitute.h"
#include "core/text.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kZooPrefix = "zoo:";

/// A file of an include.
struct Include {
  std::string path;
  Position where;
};

std::vector<Include> includes_of(const ConfigNode& root) {
  const ConfigNode* written = root.find("include");
  if (written == nullptr) return {};
  const bool one = !written->is_list();
  std::vector<Include> all;
  for (size_t i = 0; i < (one ? 1 : written->size()); ++i) {
    const ConfigNode item = one ? *written : written->items()[i];
    if (!item.is_string()) {
      throw ConfigError(item.position(),
                        "'include': expected a path or a list of paths, found " + item.describe());
    }
    const fs::path base = fs::path(*item.position().file).parent_path();
    const bool is_own = item.text().starts_with(kZooPrefix);  // comes with tpack
    all.push_back({is_own ? item.text() : (base / item.text()).lexically_normal().string(), item.position()});
  }
  return all;
}

void check_version(const ConfigNode& root) {
  const ConfigNode* version = root.find("tpack");
  if (version == nullptr) return;
  const bool known = version->kind() == ConfigNode::Kind::kInt && version->as_int() == kConfigVersion;
  if (known) return;
  throw ConfigError(version->position(), "unsupported config version: " + version->describe() +
                                             "; use 'tpack: " + std::to_string(kConfigVersion) + "'");
}

/// "; did you mean 'models/lenet.yaml'?": the file next to it with a similar name. Extensions do not count:
/// they would make short names look similar.
std::string did_you_mean_file(const std::string& path) {
  const fs::path written(path);
  std::vector<std::string> stems;
  std::error_code failure;
  const fs::path folder = written.parent_path();
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, failure)) {
    const fs::path name = entry.path().filename();
    const bool may_be_meant = name.extension() == written.extension() || name.extension() == ".yaml";
    if (may_be_meant && entry.is_regular_file(failure)) stems.push_back(name.stem().string());
  }
  std::sort(stems.begin(), stems.end());
  const auto is_written = [&](const ZooNetwork& network) {
    return network.name == written.filename().string();
  };
  if (std::ranges::any_of(zoo_networks(), is_written))
    return "; did you mean 'zoo:" + written.filename().string() + "'?";
  const auto near = nearest(written.stem().string(), stems);
  if (!near) return "";
  const fs::path same = folder / (*near + written.extension().string());
  const fs::path meant = fs::exists(same, failure) ? same : folder / (*near + ".yaml");
  return "; did you mean '" + meant.string() + "'?";
}

class Loader {
 public:
  Loader(const FieldType& structure, Diagnostics& errors) : structure_(structure), errors_(errors) {}

  void load(const std::string& path, const Position& included_at);
  void load_text(const std::string& text, const std::string& name);
  void apply(const std::string& override_text);
  const ConfigNode& merged() const { return merged_; }
  const std::vector<ConfigNode>& sources() const { return sources_; }
  std::vector<ConfigNode> take_sources() { return std::move(sources_); }

 private:
  void load_zoo(const std::string& name, const Position& included_at);
  void enter(const std::string& path, const Position& included_at);
  void add_file(const ConfigNode& root);
  void add(ConfigNode tree) {
    merged_ = merge(merged_, tree, structure_, errors_);
    sources_.push_back(std::move(tree));
  }

  const FieldType& structure_;
  Diagnostics& errors_;
  NodeBudget budget_;
  std::vector<std::string> open_;  // files that are being read, the outermost first
  std::vector<ConfigNode> sources_;
  ConfigNode merged_ = ConfigNode::map({});
};

void Loader::enter(const std::string& path, const Position& included_at) {
  std::error_code failure;
  if (!included_at.known() && !fs::exists(path, failure)) {
    const Position file = {std::make_shared<const std::string>(path), 0, 0};
    throw ConfigError(file, "no such file" + did_you_mean_file(path));
  }
  if (included_at.known() && !fs::exists(path, failure)) {
    throw ConfigError(included_at, "no such file '" + path + "'" + did_you_mean_file(path));
  }
  if (included_at.known() && !fs::is_regular_file(path, failure)) {
    throw ConfigError(included_at, "'" + path + "' is not a file");
  }
  const auto same = [&](const std::string& other) { return fs::equivalent(path, other, failure); };
  const auto cycle = std::find_if(open_.begin(), open_.end(), same);
  if (cycle != open_.end()) {
    std::vector<std::string> files(cycle, open_.end());
    files.push_back(path);
    throw ConfigError(included_at, "circular include: " + join(files, " -> "));
  }
  if (static_cast<int>(open_.size()) > kMaxIncludeDepth) {
    throw ConfigError(included_at,
                      "includes are nested deeper than " + std::to_string(kMaxIncludeDepth) + " files");
  }
  open_.push_back(path);
}

void Loader::load(const std::string& path, const Position& included_at) {
  enter(path, included_at);
  add_file(parse_yaml(YamlText::of_file(path), budget_));
  open_.pop_back();
}

/// A network: its page, then its variables. Or a page that networks share, by its name with .yaml.
void Loader::load_zoo(const std::string& name, const Position& included_at) {
  const auto page = [&](const std::string& file) {
    const char* const text = zoo_page(file);
    if (text == nullptr) throw ConfigError(included_at, "no page '" + file + "' in the zoo");
    add_file(parse_yaml(YamlText::of_string(text, std::string(kZooPrefix) + file + ".yaml"), budget_));
  };
  if (name.ends_with(".yaml")) return page(name.substr(0, name.size() - std::string(".yaml").size()));
  const auto network = std::ranges::find(zoo_networks(), name, &ZooNetwork::name);
  if (network == zoo_networks().end()) {
    std::vector<std::string> names;
    for (const ZooNetwork& one : zoo_networks()) names.push_back(one.name);
    throw ConfigError(included_at, "no network '" + name + "' in the zoo" + did_you_mean(name, names) +
                                       "; `tpack list zoo` lists them");
  }
  page(network->page);
  if (!network->vars.entries().empty()) add(ConfigNode::map({{"vars", network->vars}}));
}

void Loader::load_text(const std::string& text, const std::string& name) {
  const ConfigNode root = parse_yaml(YamlText::of_string(text, name), budget_);
  if (const ConfigNode* include = root.find("include"))
    throw ConfigError(include->position(), "the config in a checkpoint may not include files");
  add_file(root);
}

void Loader::add_file(const ConfigNode& root) {
  if (!root.is_map()) {
    throw ConfigError(root.position(),
                      "expected a map of sections (model: ..., data: ...), found " + root.describe());
  }
  check_version(root);
  for (const Include& include : includes_of(root)) {
    if (include.path.starts_with(kZooPrefix))
      load_zoo(include.path.substr(kZooPrefix.size()), include.where);
    else
      load(include.path, include.where);
  }
  add(root.without("include"));
}

void Loader::apply(const std::string& override_text) {
  try {
    ConfigNode tree = parse_override(override_text, budget_);
    check_override(merged_, structure_, tree);
    check_numbered_items(merged_, structure_, override_text);
    check_version(tree);
    add(std::move(tree));
  } catch (const ConfigError& error) {
    errors_.add(error, {});
  }
}

bool mentions(const std::string& text, const std::string& name) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_part(text[at - 1]);
    const size_t end = at + name.size();
    if (begins && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

/// Whether a text below `node` may use the variable. Expressions without $( ) also use it.
bool uses_variable(const ConfigNode& node, const std::string& name) {
  if (node.is_string()) return mentions(node.text(), name);
  if (node.is_map()) {
    return std::any_of(node.entries().begin(), node.entries().end(),
                       [&](const ConfigNode::Entry& entry) { return uses_variable(entry.value, name); });
  }
  return node.is_list() && std::any_of(node.items().begin(), node.items().end(),
                                       [&](const ConfigNode& item) { return uses_variable(item, name); });
}

/// An option that sets a variable must change something.
void check_effect(const ConfigNode& override_tree, const ConfigNode& merged, Diagnostics& errors) {
  const ConfigNode* vars = override_tree.find("vars");
  if (vars == nullptr || !vars->is_map()) return;
  for (const auto& [name, value, position] : vars->entries()) {
    if (merged.find("vars") == nullptr || merged.find("vars")->find(name) == nullptr) continue;  // deleted
    if (!uses_variable(merged, name))
      errors.add(position, "no expression in the config uses vars." + name +
                               ", so this has no effect; write $(vars." + name +
                               ") where you need the value, or set that key directly");
  }
}

/// The config in a file of another user must not send what is in the environment to an error or an output.
void reject_environment(const ConfigNode& node) {
  for (const ConfigNode& item : node.items()) reject_environment(item);
  for (const ConfigNode::Entry& entry : node.entries()) reject_environment(entry.value);
  if (!node.has_expression()) return;
  std::set<std::string> names;
  collect_names(node, names);
  for (const std::string& name : names) {
    if (is_environment_name(name) && lookup_environment(name))
      throw ConfigError(node.position(),
                        "'" + name +
                            "' reads an environment variable, which the config in a checkpoint may not; "
                            "give the value with --set");
  }
}

enum class MayRead : uint8_t { kEnvironment, kNothingElse };

/// The work after the files are read.
LoadedConfig finish(Loader& loader, Diagnostics& errors, const std::string& path, const LoadOptions& options,
                    MayRead may_read = MayRead::kEnvironment) {
  const size_t files = loader.sources().size();
  for (const std::string& text : options.overrides) loader.apply(text);
  const ConfigNode merged = loader.merged();
  for (size_t i = files; i < loader.sources().size(); ++i) check_effect(loader.sources()[i], merged, errors);
  if (merged.find("tpack") == nullptr) {
    errors.add({std::make_shared<const std::string>(path), 1, 1},
               "'tpack: " + std::to_string(kConfigVersion) + "' is missing; write it as the first line");
  }
  errors.throw_if_any();
  if (may_read == MayRead::kNothingElse) reject_environment(merged);
  ConfigNode root = resolve_expressions(merged, options.structure, errors);
  errors.throw_if_any();
  return {std::move(root), merged, loader.take_sources(), options.structure};
}

}  // namespace

LoadedConfig load_config(const std::string& path, const LoadOptions& options) {
  Diagnostics errors;
  Loader loader(options.structure, errors);
  loader.load(path, {});
  return finish(loader, errors, path, options);
}

LoadedConfig load_config_text(const std::string& text, const std::string& name, const LoadOptions& options) {
  Diagnostics errors;
  Loader loader(options.structure, errors);
  loader.load_text(text, name);
  return finish(loader, errors, name, options, MayRead::kNothingElse);
}

}  // namespace tpack
