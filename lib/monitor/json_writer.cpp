#include <filesystem>

#include "core/clock.h"
#include "core/file_io.h"
#include "core/log.h"
#include "core/registry.h"
#include "monitor/monitor.h"
#include "monitor/stat_table.h"
#include "monitor/stats_json.h"

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
               "with values. A resumed run starts it with the history of its checkpoint; a damaged file is "
               "kept as stats.json.MMDD-HHMMSS.")
        .example("JSONWriter: {period_s: 60}")
        .field("period_s", &Params::period_s, at_least(0),
               "seconds between writes within an epoch; the end of an epoch always writes");
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
  void put_scalar(const std::string& name, double value, const Moment& at) override {
    table_.put(name, value, at);
  }
  void end_step(const Moment& /*at*/) override {
    if (since_write_.seconds() >= p_.period_s) write();
  }
  void end_epoch(const Moment& /*at*/) override { write(); }
  void close() override { write(); }

 private:
  void write() {
    since_write_.reset();
    if (path_.empty()) return;
    write_whole_file(path_, stats_json(table_));
  }

  Params p_;
  std::string path_;  // empty: no log folder
  StatTable table_;
  Stopwatch since_write_;
};

TPACK_REGISTER(Monitor, JsonWriter, "JSONWriter");

}  // namespace
}  // namespace tpack
