#include "data_tools/flow_speed.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

constexpr double kMicro = 1e6;  // microseconds of a second
constexpr const char* kRest = "order, calls";

/// Takes batches for a while.
class TimedReader {
 public:
  TimedReader(Stream& stream, const SpeedOptions& options) : stream_(stream), options_(options) { take(); }

  /// Takes the batches made so far, for the first of which files were opened, and forgets their times.
  void drain() {
    while (stream_.stats().ready > 0) take();
    take();
    if (stream_.part_times() != nullptr) stream_.part_times()->reset();
  }
  /// Waits until the queue is full, but no longer than a quarter of the read.
  void fill() const {
    constexpr double kPause = 1e-3;
    const Stopwatch watch;
    while (stream_.stats().ready + 1 < stream_.stats().slots && watch.seconds() < options_.seconds / 4)
      rest(kPause);
  }

  /// With `need`, each batch takes as long as in a network of so many samples per second.
  FlowSpeed::Read read(std::optional<double> need) {
    const StreamStats before = stream_.stats();
    const std::clock_t processor_before = std::clock();
    const Stopwatch watch;
    FlowSpeed::Read read;
    int64_t batches = 0;
    do {
      const int64_t samples = take();
      read.samples += samples;
      ++batches;
      if (need)
        rest(std::min(static_cast<double>(samples) / *need,
                      options_.samples ? options_.seconds : options_.seconds - watch.seconds()));
    } while (!is_enough(read.samples, watch.seconds()) && !(need && watch.seconds() >= options_.seconds));
    read.seconds = watch.seconds();
    read.processor_s = static_cast<double>(std::clock() - processor_before) / CLOCKS_PER_SEC;
    const StreamStats after = stream_.stats();
    read.wait_s = after.wait_s - before.wait_s;
    read.queue_size = static_cast<int64_t>(after.slots) - 1;
    // A worker may fill the batch that was just given back, too.
    read.queue_fill = std::min(static_cast<double>(after.found - before.found) / static_cast<double>(batches),
                               static_cast<double>(read.queue_size));
    return read;
  }

 private:
  /// The batch is held until the next one is taken, as in training.
  int64_t take() {
    batch_.reset();
    batch_ = stream_.next();
    if (!batch_) throw DataError("the dataflow has no data");
    return batch_->samples();
  }
  bool is_enough(int64_t samples, double seconds) const {
    return options_.samples ? samples >= *options_.samples : seconds >= options_.seconds;
  }
  static void rest(double seconds) {
    std::mutex nobody;
    std::condition_variable never;
    std::unique_lock lock(nobody);
    never.wait_for(lock, std::chrono::duration<double>(std::max(seconds, 0.0)), [] { return false; });
  }

  Stream& stream_;
  const SpeedOptions& options_;
  std::optional<Batch> batch_;
};

std::vector<FlowSpeed::Row> rows_of(const DataFlow& flow, const PartTimes::Totals& totals) {
  std::vector<FlowSpeed::Row> rows;
  for (const FlowPart& part : flow.parts()) {
    const auto found = totals.parts.find(part.name);
    rows.push_back({part, found == totals.parts.end() ? PartTime{} : found->second});
  }
  if (const auto decoding = totals.parts.find(kDecodingPart); decoding != totals.parts.end())
    rows.push_back({{kDecodingPart}, decoding->second});
  return rows;
}

std::string rate_text(double per_s) {
  return per_s < 100 ? short_text(std::round(10 * per_s) / 10) : with_thousands(std::llround(per_s));
}

std::string processors_text(double count) { return fixed(count, count < 0.1 ? 3 : 2); }

}  // namespace

FlowSpeed measure_flow(const std::string& name, const DataFlow& flow, const SpeedOptions& options) {
  flow.prepare();
  FlowSpeed speed{.flow = name, .batch_size = flow.batch_size().value_or(0), .need = options.need};
  DataPosition position;
  {
    const auto stream = flow.stream({.seed = options.seed, .workers = 1, .measure_every = 1});
    TimedReader reader(*stream, options);
    reader.drain();
    speed.one = reader.read({});
    speed.totals = stream->part_times()->totals();
    position = stream->position();
  }
  speed.rows = rows_of(flow, speed.totals);
  // It goes on where the first read ended, because the files that it read are now in memory.
  const auto stream = flow.stream({.seed = options.seed, .workers = options.workers, .position = position});
  speed.workers = stream->workers();
  TimedReader reader(*stream, options);
  reader.drain();
  speed.all = reader.read({});
  reader.fill();
  speed.paced = reader.read(options.need);
  return speed;
}

std::string FlowSpeed::str() const {
  const auto samples = static_cast<double>(std::max<int64_t>(totals.samples, 1));
  const double sum = totals.seconds();
  TextTable parts({"part", "us/sample", "share", "bytes/sample", "at"});
  const auto add = [&](const std::string& part, double seconds, const std::string& bytes,
                       const std::string& at) {
    parts.add({part, fixed(seconds / samples * kMicro, 2), fixed(sum > 0 ? 100 * seconds / sum : 0, 1) + " %",
               bytes, at});
  };
  for (const Row& row : rows)
    add(row.part.name, row.time.seconds,
        row.time.items > 0 ? with_thousands(std::llround(static_cast<double>(row.time.bytes) / samples)) : "",
        row.part.position.known() ? row.part.position.str() : "");
  add(kRest, totals.rest_s, "", "");
  add("together", sum, "", "");
  TextTable reads({"data." + flow, "samples/s", "waiting", "queue"});
  const auto add_read = [&](const std::string& what, const Read& read) {
    reads.add({what, rate_text(read.samples_per_s()), fixed(100 * read.wait_share(), 1) + " %",
               fixed(read.queue_fill, 1) + " of " + std::to_string(read.queue_size)});
  };
  const std::string workers_text = std::to_string(workers) + (workers == 1 ? " worker" : " workers");
  add_read("1 worker, with a clock", one);
  add_read(workers_text, all);
  add_read(workers_text + ", for " + rate_text(need) + "/s", paced);
  return parts.str() + "\n" + reads.str() + "\na network of " + rate_text(need) + " samples/s needs " +
         processors_text(processors_for(need)) + " processors for its data\n";
}

nlohmann::ordered_json FlowSpeed::to_json() const {
  const auto samples = static_cast<double>(std::max<int64_t>(totals.samples, 1));
  const double sum = totals.seconds();
  const auto read_json = [](const Read& read) -> nlohmann::ordered_json {
    return {{"samples", read.samples},
            {"seconds", read.seconds},
            {"samples_per_s", read.samples_per_s()},
            {"processor_s", read.processor_s},
            {"waiting_share", read.wait_share()},
            {"queue_fill", read.queue_fill},
            {"queue_size", read.queue_size}};
  };
  nlohmann::ordered_json json = {{"flow", flow},
                                 {"batch_size", batch_size},
                                 {"workers", workers},
                                 {"one_worker", read_json(one)},
                                 {"all_workers", read_json(all)},
                                 {"at_need", read_json(paced)},
                                 {"need", need},
                                 {"processors_for_need", processors_for(need)},
                                 {"us_per_sample", sum / samples * kMicro},
                                 {"rest_us_per_sample", totals.rest_s / samples * kMicro}};
  json["parts"] = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    json["parts"].push_back({{"part", row.part.name},
                             {"at", row.part.position.known() ? row.part.position.str() : ""},
                             {"us_per_sample", row.time.seconds / samples * kMicro},
                             {"share", sum > 0 ? row.time.seconds / sum : 0},
                             {"bytes_per_sample", static_cast<double>(row.time.bytes) / samples}});
  return json;
}

}  // namespace tpack
