#include "system/log.h"

#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "core/error.h"
#include "core/text_encoding.h"
#include "system/terminal.h"

namespace tpack::log {
namespace {

constexpr const char* kPattern = "[%m%d %H:%M:%S] %^%v%$";

struct Sinks {
  std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> console;
  std::shared_ptr<spdlog::logger> logger;
  std::shared_ptr<spdlog::sinks::sink> file;
  std::string prefix;
  Level level = Level::kInfo;    // of the console
  bool on_redrawn_line = false;  // the cursor is on a line that `redraw` wrote
  std::mutex mutex;

  Sinks() {
    const auto mode = colors_wanted(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
    console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode);
    console->set_pattern(kPattern);
    console->set_level(spdlog::level::info);
    logger = std::make_shared<spdlog::logger>("tpack", console);
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::info);
  }
};

Sinks& sinks() {
  static auto& all = *new Sinks();  // outlives every static that may still log
  return all;
}

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;  // stderr is closed: no reason to end a run
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void leave_redrawn_line(Sinks& all) {
  if (all.on_redrawn_line) write_to_stderr("\n");
  all.on_redrawn_line = false;
}

void write(spdlog::level::level_enum level, const std::string& text) {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  if (all.console->should_log(level)) leave_redrawn_line(all);
  all.logger->log(level, printable_lines(all.prefix + text));
}

}  // namespace

void info(const std::string& text) { write(spdlog::level::info, text); }
void warning(const std::string& text) { write(spdlog::level::warn, "warning: " + text); }
void error(const std::string& text) { write(spdlog::level::err, "error: " + text); }
void debug(const std::string& text) { write(spdlog::level::debug, text); }

void redraw(std::string_view line) {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  write_to_stderr("\r");
  write_to_stderr(line);
  write_to_stderr("\033[K");
  all.on_redrawn_line = true;
}

void end_redrawn() {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  leave_redrawn_line(all);
}

Level set_level(Level level) {
  static constexpr spdlog::level::level_enum kLevels[] = {
      spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err, spdlog::level::off};
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  all.console->set_level(kLevels[static_cast<int>(level)]);
  return std::exchange(all.level, level);
}

void to_file(const std::string& path) {
  close_file();
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  try {
    all.file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
  } catch (const spdlog::spdlog_ex& failure) {
    throw ResourceError(path + ": cannot be written: " + failure.what());
  }
  all.file->set_pattern("[%m%d %H:%M:%S] %v");
  all.file->set_level(spdlog::level::info);
  all.logger->sinks().push_back(all.file);
}

void set_prefix(const std::string& prefix) {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  all.prefix = prefix;
}

void close_file() {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  if (!all.file) return;
  all.file->flush();
  std::erase(all.logger->sinks(), all.file);
  all.file.reset();
}

}  // namespace tpack::log
