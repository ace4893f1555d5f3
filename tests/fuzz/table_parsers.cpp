// Tables: CSV, JSON lines, SVMLight, and their compressed files.
#include <map>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/text_encoding.h"
#include "dataflow/datapoint.h"
#include "dataflow/fitted_data.h"
#include "dataflow/packed_bytes.h"
#include "fuzz/parsers.h"
#include "sources/format/svmlight.h"
#include "table/csv.h"
#include "table/csv_guess.h"
#include "table/date_text.h"
#include "table/jsonl.h"
#include "table/unpacked_file.h"
#include "table/written_number.h"

namespace tpack::fuzz {
namespace {

constexpr const char* kTable =
    "a,b,c,d\n1,x,2024-05-19,\"red round\"\n-2.5e3,y,19/05/2024 9:30 PM,red\nNA,\"z \"\"q\"\"\",May 19 "
    "2024,-\n"
    "1'234.5,true,20240519,\n";

const SourceOfFile kCsv({
    "CSV: {file: FILE, columns: {x: auto}}",
    "CSV: {file: FILE, columns: {x: auto}, header: false, dates: day_first, scale: quantile}",
    "CSV: {file: FILE, columns: {x: auto}, labels: {y: b}, missing: median, na_values: ['-', unknown]}",
    "CSV: {file: FILE, columns: {x: ['0', '1'], y: '2'}, labels: {label: '3'}, header: false, missing: 0}",
    "CSV: {file: FILE, columns: {x: auto}, delimiter: ';', decimal: ',', encoding: latin1, clip: 3}",
    "CSV: {file: FILE, columns: {x: auto}, encoding: utf-16, scale: min_max}",
    "CSV: {file: FILE, columns: {x: '.*'}, delimiter: whitespace, header: false}",
    "CSV: {file: FILE, columns: {x: auto}, labels: {tags: {column: d, separator: ' '}}, scale: log1p}",
    "CSV: {file: FILE, columns: {x: '0'}, labels: {set: ['1', '2']}, header: false}",
});

const SourceOfFile kJsonLines({
    "CSV: {file: FILE, format: jsonl, columns: {x: auto}}",
    "CSV: {file: FILE, format: jsonl, columns: {x: 'a.*'}, labels: {y: b}, missing: mean}",
    "CSV: {file: FILE, format: jsonl, columns: {x: auto}, labels: {tags: {column: b, separator: ','}}}",
});

const SourceOfFile kSvmLight({
    "SVMLight: {file: FILE}",
    "SVMLight: {file: FILE, zero_based: true, targets: set}",
    "SVMLight: {file: FILE, features: 10, targets: number}",
});

/// What is made of the text of a field.
void parse_field(std::string_view field) {
  static_cast<void>(csv_number(field, '.'));
  static_cast<void>(csv_number(field, ','));
  static_cast<void>(csv_number_key(field));
  static_cast<void>(parse_written_number(field, '.'));
  static_cast<void>(parse_written_number(field, ','));
  static_cast<void>(parse_yes_no(field));
  static_cast<void>(is_missing_in_csv(field));
  const DateReadings readings = read_date(field);
  const auto date = parse_date(field);
  if (date && readings.day_first != date && readings.month_first != date)
    broken_promise("parse_date gives what read_date does not read");
}

/// CsvReader, which splits without a copy of the text.
void parse_csv_fields(Input input) {
  constexpr std::string_view kDelimiters = ",;\t |";
  const size_t choice = take_choice(input, kDelimiters.size() + 1);
  const char delimiter = choice < kDelimiters.size() ? kDelimiters[choice] : CsvReader::kWhitespace;
  CsvReader reader(text_of(input), delimiter, {"a.csv", 1, true});
  std::vector<std::string_view> fields;
  while (reader.next(fields))
    for (const std::string_view field : fields) parse_field(field);
}

void parse_json_fields(Input input) {
  JsonlReader reader(text_of(input), "a.jsonl");
  while (reader.next())
    for (const JsonlValue& value : reader.values()) parse_field(value.text);
}

void parse_svmlight_lines(Input input) {
  SvmLightReader reader(text_of(input), "a.svm");
  for (SvmLightRow row; reader.next(row);)
    for (size_t i = 1; row.why.empty() && i < row.features.size(); ++i)
      if (row.features[i - 1].index >= row.features[i].index) broken_promise("features are not in order");
}

void unpack(Input input) {
  constexpr size_t kMost = size_t{1} << 24U;
  UnpackedFile file(file_with(input));
  size_t bytes = 0;
  for (auto piece = file.next(1000); !piece.empty() && bytes < kMost; piece = file.next(100'000))
    bytes += piece.size();
}

/// A flow of a table with a number, a category, a date with a time, and a bool; as data.train, or with what
/// another one has learned.
DataFlow flow_of_table(const std::string& more_settings, const std::shared_ptr<Fit>& fit) {
  constexpr const char* kRows =
      "a,b,c,d\n1,x,2024-05-19 9:30,yes\n-2.5e3,y,2024-05-20 10:00,no\n,x,2023-01-01 "
      "0:00,yes\n5,y,2020-02-29 12:00,\n"
      "7,x,,no\n7,y,1999-12-31 23:59,no\n";
  const std::string& path = file_with(bytes_of(kRows));
  static std::map<std::string, ConfigNode> known;
  const auto [settings, is_new] = known.try_emplace(more_settings);
  if (is_new)
    settings->second = parse_yaml(
        "[CSV: {file: " + path + ", columns: {x: auto}, shuffle: false" + more_settings + "}]", "");
  Diagnostics errors;
  auto flow = make_flow(settings->second, {}, errors, fit);
  errors.throw_if_any();
  return std::move(*flow);
}

/// What a source of data.train has learned, as in the checkpoint of another user.
void use_learned(Input input) {
  const FittedComponent learned{.source = "csv_0",
                                .component = "x",
                                .columns = {"a", "b", "c", "d"},
                                .learned = std::string(text_of(input))};
  const DataFlow flow = flow_of_table("", std::make_shared<Fit>(FittedData({learned})));
  const auto samples = flow.open({});
  for (Datapoint sample; samples->next(sample);) sample.to_tensor(0);
}

std::vector<Bytes> learned_seeds() {
  std::vector<Bytes> seeds;
  for (const char* const settings :
       {"", ", scale: quantile, clip: 2", ", scale: min_max, clip: {a: [0, 6]}"}) {
    const DataFlow train = flow_of_table(settings, nullptr);
    train.prepare();
    seeds.push_back(bytes_of(fitted_data(train).components().at(0).learned));
  }
  return seeds;
}

std::vector<Bytes> csv_seeds() {
  std::vector<Bytes> seeds = with_choices(kCsv.choices(), texts({kTable}));
  const auto add = [&seeds](uint8_t choice, const std::string& text) {
    Bytes seed = bytes_of(text);
    seed.insert(seed.begin(), choice);
    seeds.push_back(std::move(seed));
  };
  add(1, "1,2\n3,4\n5,6\n");
  add(3, "1,2,3,x\n4,NaN,6,y\n");
  add(4, "sep=;\na;b\n1,5;2\n5%;$3\n");
  add(5, std::string("\xFF\xFE"
                     "a\0,\0b\0\n\0"
                     "1\0,\0"
                     "2\0\n\0",
                     18));
  add(6, "1  2\t3\n 4 5 6 \n");
  add(8, "1,0,1\n2,0.5,0\n");
  return seeds;
}

}  // namespace

std::vector<Parser> table_parsers() {
  constexpr const char* kLines =
      "{\"a\": 1, \"b\": \"x\", \"a2\": {\"x\": [1, null, true]}}\n{\"b\": \"\\u00e9\\ud83d\\ude00\"}\n";
  constexpr const char* kRows = "1 qid:3 1:0.5 3:-2e3 # one\n-1 2:1\n2,3 1:1\n";
  return {
      {"csv", kCsv, csv_seeds},
      {"csv_fields", parse_csv_fields, [] { return with_choices(6, texts({kTable})); }},
      {"jsonl", kJsonLines, [=] { return with_choices(kJsonLines.choices(), texts({kLines})); }},
      {"jsonl_fields", parse_json_fields, [=] { return texts({kLines}); }},
      {"svmlight", kSvmLight, [=] { return with_choices(kSvmLight.choices(), texts({kRows})); }},
      {"svmlight_lines", parse_svmlight_lines, [=] { return texts({kRows}); }},
      {"packed_table", unpack,
       [] {
         return std::vector{gzip_file(kTable), zstandard_file(kTable)};
       }},
      {"learned", use_learned, learned_seeds},
  };
}

}  // namespace tpack::fuzz
