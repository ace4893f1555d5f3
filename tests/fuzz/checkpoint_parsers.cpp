// Checkpoints and HDF5 files.
#include <filesystem>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/sample.h"
#include "checkpoint/seal.h"
#include "core/error.h"
#include "fuzz/parsers.h"
#include "system/anonymous_file.h"
#include "system/file_io.h"
#include "tensor/state.h"

namespace tpack::fuzz {
namespace {

/// With any bytes for the seal.
void parse_seal(Input input) { check_seal(file_with(input)); }

/// With a seal that fits, so that libhdf5 reads the bytes.
void parse_checkpoint(Input input) {
  const std::string seal = make_seal(text_of(input));
  static AnonymousFile file("");
  file.assign({seal, text_of(input)});
  load_checkpoint(file.path());
}

void parse_state(Input input) {
  const State state = State::from_json(std::string(text_of(input)), "state");
  if (State::from_json(state.to_json(), "state").to_json() != state.to_json())
    broken_promise("a state is not what was written");
  for (const char* const name : {"a", "b", "c", "d"}) {
    const auto read = [&](auto get) {
      try {
        get(name);
      } catch (const CheckpointError&) {  // of another type
      }
    };
    read([&](const char* it) { state.get<double>(it); });
    read([&](const char* it) { state.count(it); });
    read([&](const char* it) { state.get<std::vector<double>>(it); });
  }
  static_cast<void>(state.part("d").empty());
}

const SourceOfFile kHdf5({"HDF5: {file: FILE}", "HDF5: {file: FILE, arrays: {x: model/conv0/b}}"});

std::string sample_checkpoint() {
  const std::string path =
      std::filesystem::temp_directory_path() / ("tpack_fuzz_" + std::to_string(::getpid()) + ".h5");
  save_checkpoint(path, sample_content());
  std::string content = read_whole_file(path).value();
  std::filesystem::remove(path);
  return content;
}

std::vector<Bytes> state_seeds() {
  State state;
  state.put("a", 0.1);
  state.put("b", 7);
  state.put("c", std::vector<double>{1, -2.5});
  State part;
  part.put("text", std::string("\xc3\xa4"));
  state.put("d", part);
  return texts({state.to_json()});
}

}  // namespace

std::vector<Parser> checkpoint_parsers() {
  const auto hdf5 = [] { return texts({sample_checkpoint().substr(kSealBytes)}); };
  // libhdf5 asks for the memory that a damaged file declares.
  constexpr const char* kOfLibrary = "-max_len=16384 -malloc_limit_mb=-1";
  return {
      {"seal", parse_seal, [] { return texts({make_seal("content") + "content"}); }},
      {"state", parse_state, state_seeds},
      {"checkpoint", parse_checkpoint, hdf5, kOfLibrary},
      {"hdf5", kHdf5, [=] { return with_choices(kHdf5.choices(), hdf5()); }, kOfLibrary},
  };
}

}  // namespace tpack::fuzz
