#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What tpack_fuzz calls with any bytes.
namespace tpack::fuzz {

using Input = std::span<const uint8_t>;
using Bytes = std::vector<uint8_t>;

/// A parser of bytes that come from outside.
struct Parser {
  std::string name;
  /// Throws tpack::Error for bytes that are not valid, and nothing else.
  std::function<void(Input)> parse;
  /// Valid inputs to begin with.
  std::function<std::vector<Bytes>()> seeds;
  std::string options = "-max_len=4096";  // of libFuzzer
};

std::vector<Parser> array_parsers();
std::vector<Parser> checkpoint_parsers();
std::vector<Parser> config_parsers();
std::vector<Parser> image_parsers();
std::vector<Parser> record_parsers();
std::vector<Parser> table_parsers();
std::vector<Parser> weight_parsers();

inline std::string_view text_of(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}
inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
/// Seeds of texts.
std::vector<Bytes> texts(const std::vector<std::string>& all);
/// Each seed after each of the first bytes 0, 1, ..., `choices` - 1.
std::vector<Bytes> with_choices(size_t choices, const std::vector<Bytes>& seeds);

/// The file of an LMDB with these records.
Bytes lmdb_with(const std::map<std::string, Bytes>& records);

/// Takes the first byte of the input, as a number below `choices`.
size_t take_choice(Input& input, size_t choices);

/// The path of a file in memory with these bytes, until the next call.
const std::string& file_with(Input input);

/// Reads samples of a source that reads one file. The first byte of an input chooses its settings.
class SourceOfFile {
 public:
  /// Settings in YAML, in which FILE is the path: "CSV: {file: FILE, columns: {x: auto}}".
  explicit SourceOfFile(std::vector<std::string> settings) : settings_(std::move(settings)) {}

  size_t choices() const { return settings_.size(); }
  void operator()(Input input) const;

 private:
  std::vector<std::string> settings_;
};

/// Ends the program: a promise of tpack does not hold.
[[noreturn]] void broken_promise(const std::string& what);

}  // namespace tpack::fuzz
