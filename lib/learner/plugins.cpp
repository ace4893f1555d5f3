#include "learner/plugins.h"

#include <dlfcn.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin.h"
#include "core/registry.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "tpack_plugin";

/// Code that any user can replace is not run.
void reject_world_writable(const fs::path& path, const char* what) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return;  // dlopen will report the error
  if ((info.st_mode & S_IWOTH) == 0) return;
  throw ConfigError("the " + std::string(what) + " " + path.string() +
                    " is world-writable; remove that permission with chmod o-w");
}

/// Whoever may write to a folder may replace what is below it, except in folders such as /tmp (sticky), where
/// only the owner may.
void reject_replaceable(const fs::path& file) {
  reject_world_writable(file, "plugin");
  reject_world_writable(file.parent_path(), "folder of the plugin");
  for (fs::path above = file.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    struct stat info {};
    const bool is_sticky = stat(above.parent_path().c_str(), &info) == 0 && (info.st_mode & S_ISVTX) != 0;
    if (!is_sticky) reject_world_writable(above.parent_path(), "folder above the plugin");
  }
  struct stat info {};
  if (geteuid() == 0 && stat(file.c_str(), &info) == 0 && info.st_uid != 0)
    throw ConfigError("the plugin " + file.string() + " belongs to user " + std::to_string(info.st_uid) +
                      ", and tpack runs as root; use chown root, or run tpack as that user");
}

/// The reason of a failed dlopen without the path in front, which the message has anyway.
std::string loader_message(const std::string& path) {
  const char* given = dlerror();
  std::string text = given == nullptr ? "unknown cause" : given;
  if (text.starts_with(path + ": ")) text = text.substr(path.size() + 2);
  return text;
}

/// The missing symbol is that of another version (core/plugin.h).
bool is_of_another_version(const std::string& loader_text) {
  return loader_text.find("PluginInterface") != std::string::npos;
}

void check_abi(void* library, const std::string& path) {
  using Entry = const PluginAbi* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kEntry));
  if (entry == nullptr) {
    throw ConfigError("plugin " + path + " does not define " + kEntry + "(); see core/plugin.h");
  }
  const PluginAbi* abi = entry();
  if (abi != nullptr && abi->fits(kPluginAbi)) return;
  throw ConfigError("plugin " + path + " was built for another tpack (" +
                    (abi == nullptr ? "unknown version" : abi->str()) + "), this is " + kPluginAbi.str() +
                    "; rebuild it");
}

/// Names registered by two files are found when the tables are read.
void check_names(const std::string& path) {
  try {
    for (const std::string& kind : ComponentTable::kinds()) ComponentTable::of(kind).list();
  } catch (const InternalError& clash) {
    throw ConfigError("plugin " + path + ": " + clash.what());
  }
}

void load_plugin(const Ref<Path>& plugin) {
  const std::string path = resolved_path(plugin);
  if (!fs::is_regular_file(path)) throw ConfigError("no such plugin '" + path + "'");
  // Loads the target of links; a bare file name would be searched in the system's folders.
  const fs::path file = fs::canonical(path);
  reject_replaceable(file);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string text = loader_message(file.string());
    if (is_of_another_version(text)) {
      throw ConfigError("plugin " + path + " was built for another tpack, this is " + kPluginAbi.str() +
                        "; rebuild it");
    }
    const bool is_library =
        text.find("ELF") == std::string::npos && text.find("file too short") == std::string::npos;
    throw ConfigError(
        "plugin " + path +
        (is_library ? " cannot be loaded: " + text : " is not a shared library (" + text + ")"));
  }
  check_abi(library, path);
  check_names(path);
}

}  // namespace

void load_plugins(const std::vector<Ref<Path>>& plugins, Diagnostics& errors) {
  for (const Ref<Path>& plugin : plugins) {
    try {
      load_plugin(plugin);
    } catch (const ConfigError& error) {
      errors.add(error, plugin.position);
    }
  }
}

void load_plugins(const std::vector<std::string>& files) {
  std::vector<Ref<Path>> plugins;
  for (const std::string& file : files) plugins.push_back({file});
  Diagnostics errors;
  load_plugins(plugins, errors);
  errors.throw_if_any();
}

}  // namespace tpack
