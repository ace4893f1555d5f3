#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>

#include "core/error.h"
#include "core/registry.h"
#include "core/stop.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "records/record_components.h"
#include "remote/sample_frame.h"
#include "remote/sample_program.h"
#include "system/dependent_process.h"

namespace tpack {
namespace {

/// What a resumed run does with the samples of a pass that it has read already.
enum class PipeResume : uint8_t { kReplay, kSkip, kRefuse };

}  // namespace

template <>
struct EnumNames<PipeResume> {
  static constexpr std::array<std::pair<const char*, PipeResume>, 3> kNames = {
      {{"replay", PipeResume::kReplay}, {"skip", PipeResume::kSkip}, {"refuse", PipeResume::kRefuse}}};
};

namespace {

struct PipeDataParams {
  std::vector<std::string> command;
  std::vector<ComponentOfField> components;
  std::optional<int64_t> size;
  PipeResume resume = PipeResume::kReplay;
};

/// The samples that a program writes, read one after the other.
class ProgramReader {
 public:
  ProgramReader(const std::vector<std::string>& command,
                const std::map<std::string, std::string>& environment)
      : name_("`" + join(command, " ") + "`"), program_(command, environment) {}

  /// Reads the next sample, whose values are valid until the next call; false at the end. Errors: DataError,
  /// the same for each later call: what comes after it cannot be read.
  bool next(RecordFields& fields) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      fields.clear();
      frame_.reset();
      begin_ += used_;
      used_ = 0;
      const auto line = next_line();
      if (!line) return false;
      frame_.emplace(*line);
      const size_t head = used_;
      const uint64_t size = frame_->following();
      while (end_ - begin_ < head + size)
        if (!read_more()) end_early();
      used_ = head + size;
      frame_->add_to(fields, std::span<const uint8_t>(buffer_).subspan(begin_ + head, size));
      ++samples_;
      return true;
    } catch (const DataError& error) {
      failure_ = std::make_exception_ptr(
          is_ended_ ? DataError(error.what())
                    : DataError(name_ + ": sample " + std::to_string(samples_) + ": " + error.what()));
      std::rethrow_exception(failure_);
    }
  }

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20U;

  /// Nothing at the end. The line stays in the buffer until more is read.
  std::optional<std::string_view> next_line() {
    for (size_t searched = 0;;) {
      const auto* const from = buffer_.data() + begin_;
      const size_t there = end_ - begin_;
      const void* const found =
          there == searched ? nullptr : std::memchr(from + searched, '\n', there - searched);
      if (found != nullptr) {
        const auto size = static_cast<size_t>(static_cast<const uint8_t*>(found) - from);
        used_ = size + 1;
        return std::string_view(reinterpret_cast<const char*>(from), size);
      }
      searched = there;
      if (there > SampleFrame::kMostLineBytes) throw DataError("its line of JSON is longer than 64 MB");
      if (read_more()) continue;
      if (there > 0) end_early();
      check_end("after");
      return std::nullopt;
    }
  }
  /// Memory grows with what was read, not with what was announced. False at the end.
  bool read_more() {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < kPieceBytes / 2) buffer_.resize(std::max(2 * buffer_.size(), kPieceBytes));
    const size_t got = program_.read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += got;
    return got > 0;
  }
  [[noreturn]] void end_early() {
    check_end("in the middle of");
    throw DataError(name_ + " ended in the middle of sample " + std::to_string(samples_));
  }
  /// Errors: DataError if the program has failed.
  void check_end(const char* where) {
    constexpr int kSignals = 128;
    is_ended_ = true;
    const int code = program_.exit_code();
    if (code == 0) return;
    if (code == DependentProcess::kNotFound && samples_ == 0 && program_.last_words().empty())
      throw DataError(name_ + " cannot be run: there is no such program");
    const std::string words = program_.last_words();
    throw DataError(name_ + " ended with " +
                    (code > kSignals ? "signal " + std::to_string(code - kSignals)
                                     : "exit code " + std::to_string(code)) +
                    " " + where + " sample " + std::to_string(samples_) +
                    (words.empty() ? "" : "; its last lines: " + words));
  }

  std::string name_;
  SampleProgram program_;
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0;  // of the sample
  size_t end_ = 0;
  size_t used_ = 0;  // bytes of the sample
  std::optional<SampleFrame> frame_;
  int64_t samples_ = 0;
  bool is_ended_ = false;
  std::exception_ptr failure_;
};

/// A field with this name for each value.
std::vector<ComponentOfField> all_fields(const RecordFields& record) {
  std::vector<ComponentOfField> all;
  for (const RecordFields::Field& field : record.all())
    all.push_back({.component = std::string(field.name), .field = std::string(field.name)});
  return all;
}

/// Starts the program for each pass, so that any language can make samples.
class PipeData final : public SequentialSource, public SourceFiles {
 public:
  using Params = PipeDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs a program, without a shell, that writes the samples of a pass to its standard output: "
               "for each, a line of JSON, and the bytes of its images and arrays (docs/remote-data.md). Its "
               "environment has TPACK_PASS, TPACK_REPEAT, TPACK_SEED and TPACK_SKIP.")
        .example("PipeData: {command: [python3, samples.py]}")
        .field("command", &Params::command, "the program and its arguments")
        .required()
        .shorthand()
        .field("components", &Params::components,
               "values by component, as for TFRecord: {image: photo, label: {field: class, classes: [cat, "
               "dog]}}. Default: a component for each value of the first sample")
        .field("size", &Params::size, at_least(1),
               "samples of a pass: more are not read, fewer are an error. Default: all that the program "
               "writes")
        .field("resume", &Params::resume,
               "in the middle of a pass: replay starts the program and reads the earlier samples again, skip "
               "tells it in TPACK_SKIP how many to leave out, and refuse is for a program that does not "
               "write the same samples again");
  }
  explicit PipeData(Params p) : p_(std::move(p)) {
    if (p_.command.empty()) throw ConfigError("PipeData: 'command' has no program");
  }

  bool knows_spec() const override { return false; }
  bool come_from_outside() const override { return true; }
  Spec spec() const override { return components_.spec(); }
  std::optional<int64_t> size() const override { return p_.size; }
  SourceFacts facts() const override {
    SourceFacts facts{.samples = p_.size};
    facts.remarks.push_back("samples come from the program " + join(p_.command, " "));
    return facts;
  }
  Seek seek() const override {
    if (p_.resume == PipeResume::kRefuse) return Seek::kNone;
    return p_.resume == PipeResume::kSkip ? Seek::kExact : Seek::kReplayReads;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t /*stage*/) const override {
    return std::make_unique<PassReader>(std::static_pointer_cast<const PipeData>(shared_from_this()), pass);
  }

 protected:
  /// Learns the components of the first sample of the first pass.
  void prepare() override {
    const std::unique_ptr<ProgramReader> reader = start({}, 0);
    RecordFields first;
    if (!reader->next(first)) throw DataError("`" + join(p_.command, " ") + "` wrote no sample");
    RecordComponents components(p_.components.empty() ? all_fields(first) : p_.components);
    components.look(first);
    components_ = std::move(components);
  }

 private:
  std::unique_ptr<ProgramReader> start(const PassKey& pass, int64_t skip) const {
    const std::map<std::string, std::string> environment = {{"TPACK_PASS", std::to_string(pass.pass)},
                                                            {"TPACK_REPEAT", std::to_string(pass.repeat)},
                                                            {"TPACK_SEED", std::to_string(pass.seed)},
                                                            {"TPACK_SKIP", std::to_string(skip)}};
    return std::make_unique<ProgramReader>(p_.command, environment);
  }

  class PassReader final : public Cursor {
   public:
    PassReader(std::shared_ptr<const PipeData> source, const PassKey& pass)
        : source_(std::move(source)), pass_(pass) {}

    bool next(Datapoint& out) override {
      if (!read()) return false;
      source_->components_.fill(fields_, {}, out);
      return true;
    }
    int64_t skip(int64_t count) override {
      if (reader_ != nullptr || source_->p_.resume != PipeResume::kSkip) {
        int64_t skipped = 0;
        while (skipped < count && read()) ++skipped;
        return skipped;
      }
      const int64_t left = source_->p_.size.value_or(kEndless) - at_;
      const int64_t skipped = std::min(count, left);
      at_ += skipped;
      return skipped;
    }

   private:
    bool read() {
      if (source_->p_.size == at_) return false;
      if (reader_ == nullptr) reader_ = source_->start(pass_, at_);
      if (!reader_->next(fields_)) {
        if (!source_->p_.size) return false;
        throw DataError("`" + join(source_->p_.command, " ") + "` wrote " + with_thousands(at_) +
                        " samples; 'size' is " + with_thousands(*source_->p_.size));
      }
      ++at_;
      return true;
    }

    std::shared_ptr<const PipeData> source_;
    PassKey pass_;
    std::unique_ptr<ProgramReader> reader_;  // null until the first sample is read
    RecordFields fields_;
    int64_t at_ = 0;
  };

  Params p_;
  RecordComponents components_;
};

TPACK_REGISTER(Source, PipeData, "PipeData");

}  // namespace
}  // namespace tpack
