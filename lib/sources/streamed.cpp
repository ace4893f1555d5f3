#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/file_stamp.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "system/anonymous_file.h"
#include "system/input_file.h"
#include "table/table_text.h"

namespace tpack {
namespace {

struct StreamedParams {
  Part<Source> source;
};

constexpr const char* kStandardInput = "-";

/// True if the rows can be read only once.
bool is_pipe(const std::string& path) {
  struct stat status = {};
  return path == kStandardInput || (::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode));
}

/// The bytes of a file or a pipe, in blocks of whole rows.
class RowBlocksOfFile {
 public:
  /// Errors: DataError.
  explicit RowBlocksOfFile(const std::string& path)
      : name_(path == kStandardInput ? "standard input" : path) {
    if (!is_pipe(path)) {
      file_.emplace(path);
      if (file_->is_packed()) return;
      file_.reset();  // mapped completely
      plain_.emplace(path);
      return;
    }
    pipe_ = path == kStandardInput ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (pipe_ < 0) throw DataError(name_, std::strerror(errno));
  }
  ~RowBlocksOfFile() {
    if (pipe_ >= 0) ::close(pipe_);
  }
  RowBlocksOfFile(const RowBlocksOfFile&) = delete;
  RowBlocksOfFile& operator=(const RowBlocksOfFile&) = delete;

  /// The next rows, of about 16 MB; empty at the end. `block` provides the memory.
  std::string next(std::string block = {}) {
    block.reserve(kBlock + 2 * kPiece);
    block = open_;
    open_.clear();
    while (true) {
      const size_t end = block.size() < kBlock && !has_ended_ ? 0 : end_of_rows(block);
      if (has_ended_) return block;
      if (end > 0) {
        open_ = block.substr(end);
        block.resize(end);
        return block;
      }
      has_ended_ = !read_more(block);
    }
  }

 private:
  static constexpr size_t kBlock = size_t{16} << 20U;
  static constexpr size_t kPiece = size_t{1} << 20U;

  /// The end of the last line that does not end within quotes (the number of quotes before it is even). If
  /// quotes are not paired, as in 5" pipe, the end of the last line, when the block has reached four times
  /// its size.
  static size_t end_of_rows(std::string_view block) {
    const size_t last = block.rfind('\n');
    if (last == std::string_view::npos) return 0;
    auto quotes = count_of('"', block.substr(0, last));
    for (size_t at = last + 1; at > 0; --at) {
      const char c = block[at - 1];
      if (c == '\n' && quotes % 2 == 0) return at;
      if (c == '"') --quotes;
    }
    return block.size() < 4 * kBlock ? 0 : last + 1;
  }
  /// False at the end.
  bool read_more(std::string& block) {
    if (file_) {
      const std::string_view piece = file_->next(kPiece);
      block += piece;
      return !piece.empty();
    }
    const size_t before = block.size();
    block.resize(before + kPiece);
    ssize_t got = 0;
    do {
      got = ::read(plain_ ? plain_->number() : pipe_, block.data() + before, kPiece);
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw DataError(name_, std::strerror(errno));
    block.resize(before + static_cast<size_t>(got));
    read_ += static_cast<size_t>(got);
    if (got == 0 && plain_ && read_ < plain_->size())
      throw DataError(name_, "became shorter while it was read");
    return got > 0;
  }

  std::string name_;
  std::optional<UnpackedFile> file_;  // for a compressed file
  std::optional<InputFile> plain_;    // for a file that is not
  int pipe_ = -1;
  size_t read_ = 0;  // bytes
  bool has_ended_ = false;
  std::string open_;  // the beginning of a row
};

/// The rows of a file that need not fit into memory, in order: the inner source gets 16 MB as a table, while
/// the next ones are read. It learns only from the first 16 MB of the training data.
class Streamed final : public SequentialSource,
                       public SourceFiles,
                       public LearnedValues,
                       public WrappingSource {
 public:
  using Params = StreamedParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads the rows of a file or a pipe in order and keeps only a few in memory, for tables that "
               "do not fit into it. `auto` columns and labels learn only from the first 16 MB of the "
               "training data. To shuffle, add LocallyShuffleData; set steps_per_epoch.")
        .example("Streamed: {source: {CSV: {file: big.csv, columns: {x: [a, b], y: y}}}}")
        .field("source", &Params::source,
               "CSV (also with JSON lines) or SVMLight; `file: \"-\"` is standard input, whose rows are one "
               "pass")
        .required();
  }
  const char* path_field() const override { return "source"; }
  explicit Streamed(Params p) : p_(std::move(p)), item_(component_item(p_.source.item, kKind)) {
    const auto rows = std::dynamic_pointer_cast<const RandomAccessSource>(p_.source.object);
    if (rows == nullptr || !rows->part<SourceFiles>().text_lines())
      throw ConfigError(item_.position, "Streamed: source " + item_.name +
                                            " does not read text with one row per line; use CSV or SVMLight");
    rows_ = std::const_pointer_cast<RandomAccessSource>(rows);
    const ConfigNode* file = item_.params.find("file");
    if (file == nullptr || !file->is_string())
      throw ConfigError(item_.position,
                        "Streamed reads only one file; to read several, `cat` them to `file: \"-\"`");
    if (const ConfigNode* encoding = item_.params.find("encoding"))
      if (encoding->is_string() && encoding->text() == "utf-16")
        throw ConfigError(encoding->position(),
                          "Streamed: UTF-16 is not supported; convert the text to UTF-8");
    const Ref<Path> path{file->text(), file->position()};
    path_ = path.name == kStandardInput ? path.name : resolved_path(path);
    is_pipe_ = is_pipe(path_);
  }

  std::shared_ptr<RandomAccessSource> wrapped() const override { return rows_; }
  std::vector<FittedComponent> fitted() const override { return rows_->part<LearnedValues>().fitted(); }
  bool knows_spec() const override { return rows_->knows_spec(); }
  Spec spec() const override { return rows_->spec(); }
  std::string fingerprint() const override { return is_pipe_ ? "" : file_stamp(path_); }
  /// Each pass opens it again.
  std::optional<OpenFile> open_file() const override {
    return is_pipe_ ? std::nullopt : std::optional(OpenFile{path_, file_stamp(path_)});
  }
  SourceFacts facts() const override {
    SourceFacts facts;
    facts.unit = "rows";
    facts.remarks = rows_->facts().remarks;
    facts.remarks.push_back("rows are streamed from " + name_of_file() +
                            "; learned values come from the first " + with_thousands(rows_->size()));
    return facts;
  }
  /// A resumed run would see the next rows.
  Seek seek() const override { return is_pipe_ ? Seek::kNone : Seek::kReplayReads; }
  std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t /*stage*/) const override {
    return std::make_unique<Reader>(std::static_pointer_cast<const Streamed>(shared_from_this()), pass);
  }

 protected:
  void prepare() override {
    auto blocks = std::make_unique<RowBlocksOfFile>(path_);
    std::string first = blocks->next();
    if (first.empty())
      throw DataError(name_of_file(),
                      is_pipe_ ? "has no rows left: its rows are only one pass, so the run cannot be resumed"
                               : "is empty");
    if (rows_->part<SourceFiles>().text_lines() == TextLines::kAfterHeader)
      header_ = first.substr(0, first.find('\n') + 1);
    lines_of_first_ = count_of('\n', first);
    const AnonymousFile file(first);
    rows_ = head_of(file.path());
    rows_->follow_as(*this);
    try {
      rows_->prepare_once({});
    } catch (const DataError& error) {
      throw DataError(renamed(error.what(), file.path(), 0));
    }
    if (is_pipe_) rest_ = std::move(blocks);
  }

 private:
  using Table = std::shared_ptr<const RandomAccessSource>;

  /// Some rows, and the number of lines before them in the file.
  struct Block {
    Table table;  // null at the end
    int64_t lines_before = 0;
    int64_t lines = 0;
  };

  /// One pass.
  class Reader final : public Cursor {
   public:
    Reader(std::shared_ptr<const Streamed> source, const PassKey& pass)
        : source_(std::move(source)), now_{source_->rows_, 0, source_->lines_of_first_} {
      if (source_->is_pipe_ && pass.pass + pass.repeat > 0)
        throw DataError(source_->name_of_file(),
                        "has ended: its rows are only one pass; lower steps_per_epoch or max_epoch");
    }
    bool next(Datapoint& out) override {
      while (at_ == now_.table->size()) {
        if (!go_on()) return false;
      }
      const int64_t row = at_++;
      try {
        now_.table->get(row, {}, out);
      } catch (const DataError& error) {
        throw FileError(source_->renamed(now_.table->file_of(row), "", now_.lines_before), error.what());
      }
      return true;
    }
    int64_t skip(int64_t count) override {
      int64_t skipped = 0;
      while (skipped < count) {
        const int64_t here = std::min(count - skipped, now_.table->size() - at_);
        at_ += here;
        skipped += here;
        if (skipped < count && !go_on()) break;
      }
      return skipped;
    }

   private:
    /// False at the end. Errors: the error of the rest of the file, at each call: it is not a bad sample that
    /// can be skipped.
    bool go_on() {
      if (failure_) std::rethrow_exception(failure_);
      try {
        if (blocks_ == nullptr) {
          source_->check_unchanged();
          blocks_ = source_->blocks_after_first();
          read_ahead();
        }
        if (!ahead_.valid()) return false;
        Block block = ahead_.get();
        if (block.table == nullptr) return false;
        now_ = std::move(block);
        at_ = 0;
        read_ahead();
        return true;
      } catch (...) {
        failure_ = std::current_exception();
        throw;
      }
    }
    /// Reads a block while the previous one becomes a table.
    void read_ahead() {
      const int64_t lines_before = now_.lines_before + now_.lines;
      if (!rows_.valid()) rows_ = next_rows();
      ahead_ = std::async(std::launch::async, [this, lines_before] {
        std::string rows = rows_.get();
        if (!rows.empty()) rows_ = next_rows();
        Block block = source_->block_of(rows, lines_before, file_);
        spare_ = std::move(rows);
        return block;
      });
    }
    std::future<std::string> next_rows() {
      return std::async(std::launch::async, [this, spare = std::move(spare_)]() mutable {
        return blocks_->next(std::move(spare));
      });
    }

    std::shared_ptr<const Streamed> source_;
    Block now_;
    int64_t at_ = 0;
    std::unique_ptr<RowBlocksOfFile> blocks_;  // null: the rows of the first block are not used up
    std::string spare_;                        // memory for rows
    AnonymousFile file_{""};
    std::future<std::string> rows_;
    std::future<Block> ahead_;
    std::exception_ptr failure_;
  };

  std::string name_of_file() const { return path_ == kStandardInput ? "standard input" : path_; }

  /// The inner source on a file with the first rows; its name does not show the format.
  std::shared_ptr<RandomAccessSource> head_of(const std::string& path) const {
    ConfigNode params = item_.params.with("file", ConfigNode::string(path, item_.position));
    const auto ends_in = [&](const char* extension) {
      return path_.ends_with(extension) || path_.ends_with(std::string(extension) + ".gz") ||
             path_.ends_with(std::string(extension) + ".zst");
    };
    if ((ends_in(".jsonl") || ends_in(".ndjson")) && params.find("format") == nullptr)
      params = params.with("format", "jsonl");
    if (ends_in(".tsv") && params.find("delimiter") == nullptr) params = params.with("delimiter", "tab");
    Diagnostics errors;
    std::shared_ptr<Source> head = Registry<Source>::make({item_.name, params, item_.position}, errors);
    errors.throw_if_any();
    return std::dynamic_pointer_cast<RandomAccessSource>(std::move(head));
  }

  /// A pipe allows only one reader. Errors: DataError.
  std::unique_ptr<RowBlocksOfFile> blocks_after_first() const {
    if (!is_pipe_) {
      auto blocks = std::make_unique<RowBlocksOfFile>(path_);
      blocks->next();
      return blocks;
    }
    const std::lock_guard lock(of_rest_);
    if (rest_ == nullptr)
      throw DataError(name_of_file(),
                      "can be read only once, but a map that learns from the training data or another flow "
                      "has already read it");
    return std::move(rest_);
  }

  /// The table of some rows, which are written to `file`. Errors: DataError with the lines of the file;
  /// ResourceError.
  Block block_of(const std::string& rows, int64_t lines_before, AnonymousFile& file) const {
    const bool is_blank = rows.find_first_not_of(" \t\r\n") == std::string::npos;
    if (is_blank) return {};
    file.assign({header_, rows});
    const int64_t of_header = header_.empty() ? 0 : 1;
    std::vector<std::string> components;
    for (const ComponentSpec& component : spec()) components.push_back(component.name);
    try {
      std::shared_ptr<RandomAccessSource> table =
          rows_->part<SourceFiles>().reopen_with(file.path(), components);
      table->prepare_once({});
      return {std::move(table), lines_before - of_header, count_of('\n', rows) + of_header};
    } catch (const ResourceError&) {
      throw ResourceError(name_of_file() + ": not enough memory for the next 16 MB of its rows");
    } catch (const DataError& error) {
      throw DataError(renamed(error.what(), file.path(), lines_before - of_header));
    }
  }

  /// Replaces "PATH:LINE" in a message by the file and its own line; with an empty path, replaces such a
  /// position alone.
  std::string renamed(const std::string& text, const std::string& path, int64_t lines_before) const {
    const size_t begin = text.find(path);
    if (begin == std::string::npos) return text;
    const size_t colon = text.find(':', begin + path.size());
    const bool has_line =
        colon != std::string::npos && starts_with_digit(std::string_view(text).substr(colon + 1));
    if (!has_line) return text.substr(0, begin) + name_of_file() + text.substr(begin + path.size());
    size_t end = colon + 1;
    int64_t line = 0;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') line = line * 10 + (text[end++] - '0');
    return text.substr(0, begin) + name_of_file() + ":" + std::to_string(line + lines_before) +
           text.substr(end);
  }

  Params p_;
  ComponentItem item_;                        // of the inner source
  std::shared_ptr<RandomAccessSource> rows_;  // the inner source; after `prepare`, with the first rows
  std::string path_;
  bool is_pipe_ = false;
  std::string header_;  // with its line end; empty: no header
  int64_t lines_of_first_ = 0;
  mutable std::mutex of_rest_;
  mutable std::unique_ptr<RowBlocksOfFile> rest_;  // the rest of a pipe after the first rows
};

TPACK_REGISTER(Source, Streamed, "Streamed");

}  // namespace
}  // namespace tpack
