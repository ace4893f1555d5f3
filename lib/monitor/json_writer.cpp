#include <filesystem>

#include "core/clock.h"
#include "core/registry.h"
#include "monitor/monitor.h"
#include "monitor/stat_table.h"
#include "monitor/stats_json.h"
#include "monitor/write_pace.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

struct JsonWriterParams {
  double period_s = 10;
};

/// Source: tensorpack callbacks/monitor.py, JSONWriter.
class JsonWriter final : public Monitor {
 public:
  using Params = JsonWriterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Writes stats.json: a list of records {NAME: value, epoch_num, global_step}, one per step "
               "with values. A resumed run starts with the history in its checkpoint; a damaged file is kept "
               "as stats.json.MMDD-HHMMSS.")
        .example("JSONWriter: {period_s: 60}")
        .field("period_s", &Params::period_s, at_least(0),
               "seconds between writes within an epoch; it also writes at the end of an epoch (not of every "
               "one if the file is long and epochs are very short) and of the run");
  }
  explicit JsonWriter(Params p) : p_(p) {}

  void open(const RunRecord& run) override {
    if (run.folder.empty()) {
      log::warning("JSONWriter writes nothing: the run has no log folder");
      return;
    }
    path_ = (std::filesystem::path(run.folder) / kStatsFile).string();
    table_.begin(path_, read_stats_json, run);
  }
  void put_scalar(const std::string& name, double value, const StepStamp& at) override {
    table_.put(name, value, at);
  }
  void end_step(const StepStamp& /*at*/) override {
    if (since_write_.seconds() >= p_.period_s) write();
  }
  void end_epoch(const StepStamp& /*at*/) override {
    if (pace_.is_due()) write();
  }
  void close() override { write(); }

 private:
  void write() {
    since_write_.reset();
    if (path_.empty()) return;
    pace_.run([this] {
      const std::string text = stats_json(table_);
      write_whole_file(path_, text);
      return text.size();
    });
  }

  Params p_;
  std::string path_;  // empty: no log folder
  StatTable table_;
  Stopwatch since_write_;
  WritePace pace_;
};

TPACK_REGISTER(Monitor, JsonWriter, "JSONWriter");

}  // namespace
}  // namespace tpack
