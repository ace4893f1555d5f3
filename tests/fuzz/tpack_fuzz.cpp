// Calls a parser of tpack with the inputs of libFuzzer: TPACK_FUZZ=NAME tpack_fuzz [OPTIONS OF LIBFUZZER]
// [FOLDER ...]. Without TPACK_FUZZ, it prints the names of the parsers and their options. With
// TPACK_FUZZ_SEEDS=FOLDER, it writes valid inputs there.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/error.h"
#include "fuzz/parsers.h"
#include "system/log.h"

namespace tpack::fuzz {
namespace {

std::vector<Parser> all_parsers() {
  std::vector<Parser> all;
  for (auto& some : {table_parsers(), array_parsers(), image_parsers(), record_parsers(),
                     checkpoint_parsers(), config_parsers(), weight_parsers()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

void write_seeds(const Parser& parser, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<Bytes> seeds = parser.seeds();
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder / ("seed-" + std::to_string(i)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seeds[i].data()), std::ssize(seeds[i]));
    if (!file.flush()) throw std::runtime_error("cannot write to " + folder.string());
  }
}

/// The parser of TPACK_FUZZ.
const Parser& chosen_parser() {
  static const Parser chosen = [] {
    const char* const name = std::getenv("TPACK_FUZZ");
    for (const Parser& parser : all_parsers()) {
      if (name != nullptr && parser.name == name) return parser;
      if (name == nullptr) std::printf("%s %s\n", parser.name.c_str(), parser.options.c_str());
    }
    if (name != nullptr) std::fprintf(stderr, "TPACK_FUZZ: no parser '%s'\n", name);
    std::exit(name == nullptr ? 0 : 2);
  }();
  return chosen;
}

void begin() {
  log::set_level(log::Level::kOff);
  const Parser& parser = chosen_parser();
  if (const char* const folder = std::getenv("TPACK_FUZZ_SEEDS")) {
    write_seeds(parser, folder);
    std::exit(0);
  }
}

void run(Input input) {
  try {
    chosen_parser().parse(input);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
  }
}

}  // namespace
}  // namespace tpack::fuzz

/// libhdf5 keeps some memory after errors in a damaged file.
extern "C" const char*
__lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): of the sanitizer
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5\n";
}  // NOLINT(bugprone-reserved-identifier)

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  tpack::fuzz::begin();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tpack::fuzz::run({data, size});
  return 0;
}
