#include "fuzz/parsers.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "dataflow/data_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/fitted_data.h"
#include "system/anonymous_file.h"

namespace tpack::fuzz {
namespace {

constexpr const char* kFile = "FILE";

AnonymousFile& file_of_input() {
  static AnonymousFile file("");
  return file;
}

/// The flow of a source of the file; parsed once, because that takes longer than most inputs.
const ConfigNode& flow_of(std::string settings) {
  static std::map<std::string, ConfigNode> known;
  const auto [flow, is_new] = known.try_emplace(settings);
  if (is_new) {
    settings.replace(settings.find(kFile), std::string_view(kFile).size(), file_of_input().path());
    flow->second = parse_yaml("{flow: [{" + settings + "}], on_error: skip}", "flow.yaml");
  }
  return flow->second;
}

}  // namespace

std::vector<Bytes> texts(const std::vector<std::string>& all) {
  std::vector<Bytes> seeds;
  for (const std::string& text : all) seeds.push_back(bytes_of(text));
  return seeds;
}

std::vector<Bytes> with_choices(size_t choices, const std::vector<Bytes>& seeds) {
  std::vector<Bytes> all;
  for (size_t choice = 0; choice < choices; ++choice) {
    for (Bytes seed : seeds) {
      seed.insert(seed.begin(), static_cast<uint8_t>(choice));
      all.push_back(std::move(seed));
    }
  }
  return all;
}

size_t take_choice(Input& input, size_t choices) {
  if (input.empty()) return 0;
  const size_t choice = input[0] % choices;
  input = input.subspan(1);
  return choice;
}

const std::string& file_with(Input input) {
  file_of_input().assign({text_of(input)});
  return file_of_input().path();
}

void SourceOfFile::operator()(Input input) const {
  const std::string& settings = settings_[take_choice(input, choices())];
  file_with(input);
  const DataFlow flow = make_flow(flow_of(settings));
  flow.facts();
  fitted_data(flow);
  const auto samples = flow.open({});
  Datapoint sample;
  constexpr int kMostSamples = 100;
  for (int i = 0; i < kMostSamples && samples->next(sample); ++i)
    for (size_t k = 0; k < sample.size(); ++k) sample.to_tensor(k);
}

void broken_promise(const std::string& what) {
  std::fprintf(stderr, "broken promise: %s\n", what.c_str());
  std::abort();
}

}  // namespace tpack::fuzz
