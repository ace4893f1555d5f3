#include "data_tools/convert.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/map_in_order.h"
#include "core/rng.h"
#include "core/text.h"
#include "data_tools/flow_scan.h"
#include "data_tools/write_hdf5.h"
#include "dataflow/datapoint.h"
#include "dataflow/map_effects.h"
#include "dataflow/random_access_flow.h"
#include "fields/file_patterns.h"
#include "records/record_source.h"
#include "records/writer/array_writer.h"
#include "records/writer/record_writer.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFormats = {
    RecordFormat{".lmdb", "LMDBData", "path", lmdb_writer},
    RecordFormat{".tfrecord", "TFRecord", "files", tf_record_writer},
    RecordFormat{".tar", "WebDataset", "files", tar_writer},
    RecordFormat{
        ".npz", "Npz", "file",
        [](const std::string& folder, const Spec& spec) { return array_writer(folder, spec, write_npz); }},
    RecordFormat{
        ".h5", "HDF5", "file",
        [](const std::string& folder, const Spec& spec) { return array_writer(folder, spec, write_hdf5); }},
};

const RecordFormat& format_of(const std::string& path) {
  const auto found =
      std::ranges::find_if(kFormats, [&](const RecordFormat& f) { return path.ends_with(f.ending); });
  if (found != kFormats.end()) return *found;
  throw ConfigError("the name '" + path + "' must end in " + record_endings() + ", which choose the format");
}

/// The folder with the parts of a conversion, which only one process uses.
class WorkFolder {
 public:
  /// Errors: ConfigError if another process uses it, or if it has parts of another conversion.
  WorkFolder(const std::string& out, const std::string& conversion) : path_(out + ".partial") {
    std::error_code failure;
    fs::create_directories(path_, failure);
    if (!fs::is_directory(path_))
      throw ResourceError(path_ +
                          ": cannot be created: " + (failure ? failure.message() : "a file has this name"));
    const std::string name = path_ + "/conversion";
    lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) throw ResourceError(name + ": " + std::strerror(errno));
    try {
      if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
        throw ConfigError("another process is writing " + out + " (it uses " + path_ + ")");
      const std::string earlier = read_whole_file(name).value_or("");
      if (!earlier.empty() && earlier != conversion)
        throw ConfigError(path_ +
                          " has parts of another conversion (other data, components or settings); remove it");
      if (earlier.empty() &&
          ::pwrite(lock_, conversion.data(), conversion.size(), 0) != std::ssize(conversion))
        throw ResourceError(name + ": " + std::strerror(errno));
    } catch (...) {
      ::close(lock_);
      throw;
    }
  }
  ~WorkFolder() { ::close(lock_); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::string part(size_t number) const { return path_ + "/" + std::to_string(number); }
  bool is_done(size_t number) const { return fs::exists(part(number) + ".done"); }
  void set_done(size_t number) const {
    write_whole_file(part(number) + ".done", "");
    fs::remove_all(part(number));
  }
  void remove() const { fs::remove_all(path_); }
  /// Removes the folder if nothing is in it that another call could go on with.
  void remove_if_unused() const {
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      if (entry.is_regular_file() && entry.file_size() > 0 && entry.path().filename() != "conversion") return;
    remove();
  }

 private:
  std::string path_;
  int lock_ = -1;
};

/// The samples of a source, in the order in which they are written.
class SamplesToWrite {
 public:
  SamplesToWrite(const DataFlow& flow, const ConvertOptions& options)
      : source_(stored_samples(flow)), size_(source_->size()) {
    if (options.maps) use_maps(flow);
    if (size_ == kEndless)
      throw ConfigError(flow.origin(), "the flow never ends, so its samples cannot all be written");
    if (!options.shuffle) return;
    if (source_->access() != Access::kIndexed)
      throw ConfigError(flow.origin(),
                        "a flow that can only be read in order cannot be shuffled; leave out --shuffle");
    order_.emplace(static_cast<uint64_t>(source_->places()), *options.shuffle);
  }

  const Spec& spec() const { return maps_.empty() ? source_->spec() : maps_.back()->spec(); }
  std::optional<int64_t> size() const { return size_; }
  /// Calls `encode` for the samples from `begin` on, up to `end` (nothing: all), with several threads, and
  /// `take` with the results, in order.
  void write(int64_t begin, std::optional<int64_t> end, size_t workers,
             const std::function<std::string(Datapoint&, int64_t)>& encode,
             const std::function<void(std::vector<std::string>)>& take) const {
    const bool is_sequential = source_->access() != Access::kIndexed;
    std::unique_ptr<Cursor> cursor = is_sequential ? source_->open({}) : nullptr;
    if (cursor != nullptr) cursor->skip(begin);
    int64_t next = begin;
    MapInOrder<Chunk, std::vector<std::string>>(
        [&]() -> std::optional<Chunk> {
          Chunk chunk{.begin = next, .end = std::min(next + kChunk, end.value_or(next + kChunk))};
          if (cursor != nullptr) {
            Datapoint d;
            while (next + std::ssize(chunk.read) < chunk.end && cursor->next(d))
              chunk.read.push_back(std::move(d));
            chunk.end = next + std::ssize(chunk.read);
          }
          next = chunk.end;
          return chunk.begin == chunk.end ? std::nullopt : std::optional(std::move(chunk));
        },
        [&](Chunk chunk) {
          std::vector<std::string> encoded;
          Datapoint by_place;
          for (int64_t i = chunk.begin; i < chunk.end; ++i) {
            if (is_sequential) {
              encoded.push_back(encode_one(chunk.read[static_cast<size_t>(i - chunk.begin)], i, encode));
              continue;
            }
            const auto place = order_ ? static_cast<int64_t>((*order_)(static_cast<uint64_t>(i))) : i;
            source_->get({}, place, by_place);
            encoded.push_back(encode_one(by_place, i, encode));
          }
          return encoded;
        },
        take)
        .run("convert", workers);
  }

 private:
  static constexpr int64_t kChunk = 32;
  struct Chunk {
    int64_t begin = 0;
    int64_t end = 0;
    std::vector<Datapoint> read = {};  // if the flow is sequential
  };
  std::string encode_one(Datapoint& d, int64_t index,
                         const std::function<std::string(Datapoint&, int64_t)>& encode) const {
    try {
      for (const MapFlow* map : maps_) map->apply(0, d);
      return encode(d, index);
    } catch (const DataError& error) {
      throw DataError(sample_name(*source_, d.id()) + ": " + error.what());
    }
  }

  void use_maps(const DataFlow& flow) {
    whole_ = flow.flow();
    maps_ = maps_before_batches(flow);
    for (const MapFlow* map : maps_)
      if (map->may_drop())
        throw ConfigError(map->context().position,
                          "a map that leaves samples out cannot be applied with --maps; remove it");
    if (const auto random = random_map(flow))
      log::warning(*random + " draws random numbers: the file gets one draw for each sample");
  }

  FlowPtr source_;
  FlowPtr whole_;                     // owns the maps
  std::vector<const MapFlow*> maps_;  // that are applied
  std::optional<int64_t> size_;
  std::optional<Permutation> order_;
};

/// Writes the samples from `begin` up to `end` to `path`.
class PartOfConversion {
 public:
  PartOfConversion(const SamplesToWrite& samples, const ConvertOptions& options, Converted& result)
      : samples_(samples), options_(options), result_(result) {}

  void write(const std::string& path, const std::string& folder, int64_t begin, std::optional<int64_t> end) {
    fs::create_directory(folder);
    const std::unique_ptr<RecordWriter> writer = format_of(path).open(folder, samples_.spec());
    result_.continued_at += writer->samples();
    result_.samples += writer->samples();
    double saved_s = monotonic_s();
    samples_.write(
        begin + writer->samples(), end, options_.workers,
        [&](Datapoint& d, int64_t i) { return writer->encode(d, i); },
        [&](std::vector<std::string> encoded) {
          result_.samples += std::ssize(encoded);
          for (std::string& one : encoded) writer->append(std::move(one));
          if (monotonic_s() - saved_s >= options_.save_seconds) {
            writer->save();
            saved_s = monotonic_s();
          }
          options_.progress(result_.samples);
        });
    if (writer->samples() == 0) throw DataError(path + " would have no samples");
    const std::vector<ComponentOfField> components = writer->components();
    if (!components.empty()) write_description(path, components);
    writer->finish(path);
  }

 private:
  const SamplesToWrite& samples_;
  const ConvertOptions& options_;
  Converted& result_;
};

/// Text that changes if another conversion would write other bytes.
std::string conversion_of(const DataFlow& flow, const SamplesToWrite& samples,
                          const ConvertOptions& options) {
  return digest_of(flow.fingerprint() + "\n" + samples.spec().str() + "\n" + (options.maps ? "maps\n" : "") +
                   std::to_string(samples.size().value_or(-1)) + "\n" + options.out + "\n" +
                   (options.shuffle ? std::to_string(*options.shuffle) : "in order"));
}

}  // namespace

std::string record_endings() {
  std::vector<std::string> all;
  for (const RecordFormat& format : kFormats) all.emplace_back(format.ending);
  const std::string last = std::move(all.back());
  all.pop_back();
  return join(all, ", ") + " or " + last;
}

Converted convert_flow(const DataFlow& flow, const ConvertOptions& options) {
  const RecordFormat& format = format_of(options.out);
  const std::vector<std::string> paths = expanded_braces(options.out, {});
  if (paths.size() > 1 && std::string_view(format.field) != "files")
    throw ConfigError(options.out + ": " + format.source +
                      " reads one file; write one, or several .tfrecord or .tar");
  const SamplesToWrite samples(flow, options);
  const auto count = static_cast<int64_t>(paths.size());
  if (count > 1 && !samples.size())
    throw ConfigError(flow.origin(),
                      "the number of samples is known only after reading them; write one file");
  if (count > 1 && *samples.size() < count)
    throw ConfigError("there are " + with_thousands(*samples.size()) + " samples for " +
                      with_thousands(count) + " files");
  if (paths.size() == 1 && fs::exists(fs::symlink_status(paths[0])))
    throw ConfigError(paths[0] + " exists; remove it, or choose another name");
  const WorkFolder work(options.out, conversion_of(flow, samples, options));
  for (size_t i = 0; i < paths.size(); ++i)
    if (!work.is_done(i) && fs::exists(fs::symlink_status(paths[i])))
      throw ConfigError(paths[i] + " exists; remove it, or choose another name");
  Converted result;
  PartOfConversion part(samples, options, result);
  try {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = count > 1 ? *samples.size() * i / count : 0;
      const std::optional<int64_t> end = count > 1 ? *samples.size() * (i + 1) / count : samples.size();
      if (work.is_done(static_cast<size_t>(i))) {
        result.samples += *end - begin;
        result.continued_at += *end - begin;
        continue;
      }
      part.write(paths[static_cast<size_t>(i)], work.part(static_cast<size_t>(i)), begin, end);
      if (count > 1) work.set_done(static_cast<size_t>(i));
    }
  } catch (const Error&) {
    work.remove_if_unused();
    throw;
  }
  work.remove();
  const bool has_braces = options.out.find('{') != std::string::npos;
  result.source = std::string(format.source) + ": {" + format.field + ": " +
                  (has_braces ? "\"" + options.out + "\"" : options.out) + "}";
  return result;
}

}  // namespace tpack
