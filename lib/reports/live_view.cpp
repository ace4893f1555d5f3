#include "reports/live_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr int kMinChartRows = 6;
constexpr int kMinColumns = 20;

/// The folders in it that hold runs, sorted.
std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_directory() && holds_a_run(entry.path().string())) runs.push_back(entry.path().string());
  std::sort(runs.begin(), runs.end());
  return runs;
}

/// The first characters of UTF-8 text.
std::string truncated(const std::string& text, size_t characters) {
  size_t bytes = 0;
  for (size_t seen = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (begins && seen++ == characters) break;
  }
  return text.substr(0, bytes);
}

std::string epoch_cell(const RunStatus& status) {
  return std::to_string(status.epoch) + (status.max_epoch ? "/" + std::to_string(*status.max_epoch) : "");
}

std::string rate_cell(const RunStatus& status) {
  if (!status.samples_per_s) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", *status.samples_per_s);
  return text.data();
}

}  // namespace

LiveView::LiveView(std::vector<std::string> folders) : folders_(std::move(folders)) {
  for (std::string& folder : folders_) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (!fs::is_directory(folder)) throw DataError(folder, "no such run folder");
    if (!holds_a_run(folder) && runs_in(folder).empty())
      throw DataError(folder, "has no run; name a run folder of tpack train or tpack sweep");
  }
  find_runs();
}

/// A sweep starts new ones.
void LiveView::find_runs() {
  std::vector<std::string> found;
  for (const std::string& folder : folders_) {
    const std::vector<std::string> inner = holds_a_run(folder) ? std::vector{folder} : runs_in(folder);
    found.insert(found.end(), inner.begin(), inner.end());
  }
  const auto is_watched = [&](const std::string& folder) {
    return std::any_of(runs_.begin(), runs_.end(),
                       [&](const RunWatch& run) { return run.folder() == folder; });
  };
  for (const std::string& folder : found)
    if (!is_watched(folder)) runs_.emplace_back(folder);
}

void LiveView::refresh(double now_s) {
  find_runs();
  stats_.clear();
  for (RunWatch& run : runs_) {
    run.refresh(now_s);
    stats_.push_back({run.folder(), run.records()});
  }
}

/// First the overview charts, then each statistic alone.
std::vector<std::vector<std::string>> LiveView::panels() const {
  const std::vector<std::string> statistics = statistics_of(stats_);
  std::vector<std::vector<std::string>> all = usual_panels(statistics);
  for (const std::string& statistic : statistics) {
    const std::vector<std::string> alone = {statistic};
    if (std::find(all.begin(), all.end(), alone) == all.end()) all.push_back(alone);
  }
  return all;
}

void LiveView::turn(int by) {
  const size_t count = panels().size();
  if (count == 0) return;
  panel_ = (std::min(panel_, count - 1) + (by < 0 ? count - 1 : 1)) % count;
}

/// At most half of the screen, but at least one run.
std::string LiveView::table(TerminalSize size) const {
  constexpr int kHeader = 2;
  const size_t most = static_cast<size_t>(std::max(1, size.rows / 2 - kHeader));
  TextTable table({"run", "state", "epoch", "step", "samples/s", "left", "last message"});
  for (size_t i = 0; i < std::min(most, runs_.size()); ++i) {
    const RunStatus& status = runs_[i].status();
    table.add({runs_[i].folder(), status_name(status.state), epoch_cell(status),
               std::to_string(status.global_step), rate_cell(status),
               status.seconds_left ? human_duration(*status.seconds_left) : "", status.message});
  }
  std::string text;
  for (const std::string& line : split(table.str(), '\n'))
    if (!line.empty()) text += truncated(line, static_cast<size_t>(size.columns)) + "\n";
  if (runs_.size() > most)
    text +=
        truncated("and " + std::to_string(runs_.size() - most) + " more", static_cast<size_t>(size.columns)) +
        "\n";
  return text;
}

std::string LiveView::frame(TerminalSize size, Colors colors) const {
  std::string text = table(size);
  const std::vector<std::vector<std::string>> all = panels();
  if (all.empty()) return text + "no statistics yet\n";
  const size_t panel = std::min(panel_, all.size() - 1);
  const int left = size.rows - static_cast<int>(std::count(text.begin(), text.end(), '\n')) - 1;
  if (left >= kMinChartRows && size.columns >= kMinColumns) {
    const std::string chart = terminal_chart(chart_of(stats_, all[panel]), {size.columns, left}, colors);
    text += chart;
  }
  const std::string names = join(all[panel], ", ");
  return text +
         truncated("chart " + std::to_string(panel + 1) + " of " + std::to_string(all.size()) + ": " + names,
                   static_cast<size_t>(size.columns)) +
         "\n";
}

}  // namespace tpack
