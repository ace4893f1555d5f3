#include <algorithm>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "records/record_layouts.h"
#include "records/sharded_source.h"
#include "sources/format/tar.h"

namespace tpack {
namespace {

/// A name divided as webdataset does: the key up to the first point after the last slash, and the field.
struct MemberName {
  std::string_view key;
  std::string_view field;
};
MemberName divided(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t point = name.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  if (point == std::string_view::npos) return {name, {}};
  return {name.substr(0, point), name.substr(point + 1)};
}

/// Members without a field, hidden ones, and those for programs (__index__.json).
bool is_no_sample(std::string_view name) {
  const MemberName parts = divided(name);
  const std::string_view last = parts.key.substr(parts.key.rfind('/') + 1);
  return parts.field.empty() || last.empty() || last.starts_with("._") ||
         (last.starts_with("__") && last.ends_with("__"));
}

std::vector<uint64_t> find_tar_samples(const ReadAt& read, uint64_t size, const std::string& path) {
  std::string first(2, '\0');
  if (read(0, first.data(), first.size()) == 2 && first == "\x1f\x8b")
    throw DataError(path,
                    "is compressed; unpack it with gunzip, since samples of a compressed archive can only "
                    "be read one after the other");
  std::vector<uint64_t> offsets;
  TarWalk walk(read, path);
  std::string key;
  uint64_t end = 0;
  while (const auto member = walk.next()) {
    if (is_no_sample(member->name)) continue;
    const MemberName parts = divided(member->name);
    if (offsets.empty() || parts.key != key) {
      offsets.push_back(member->header);
      key = parts.key;
    }
    end = member->end;
  }
  offsets.push_back(std::min(end, size));
  return offsets;
}

struct WebDatasetParams : RecordParams {
  FilePatterns files;
};

/// Source: webdataset 1.0, tariterators.py (names, meta files).
class WebDataset final : public ShardedSource {
 public:
  using Params = WebDatasetParams;
  static Schema<Params> schema() {
    return with_records(
        Schema<Params>("Reads tar archives in the form of webdataset: files with the same name up to the "
                       "first point are a "
                       "sample, and the rest of the name (jpg, cls, json, npy) is a field. A file of JSON "
                       "has fields of its "
                       "own, such as json.label. Any sample is read at once, without those before it.")
            .example(
                "WebDataset: {files: \"train-{000..127}.tar\", components: {image: jpg;png, label: cls}}")
            .field("files", &Params::files,
                   "one or several; `train-{000..127}.tar` and `train-*.tar` name many")
            .required()
            .shorthand());
  }
  explicit WebDataset(const Params& p) : ShardedSource("WebDataset", p, p.files, kTarSamples) {}

 protected:
  void read(int64_t index, RecordFields& fields) const override {
    const RecordShards::Place place = shards().locate(index);
    const std::span<const uint8_t> bytes = shards().read(place, fields.buffer());
    const ReadAt read = [bytes](uint64_t offset, void* to, size_t size) -> size_t {
      if (offset >= bytes.size()) return 0;
      const size_t there = std::min<size_t>(size, bytes.size() - offset);
      std::copy_n(bytes.data() + offset, there, static_cast<uint8_t*>(to));
      return there;
    };
    std::vector<std::string_view> names;
    TarWalk walk(read, shards().paths()[place.shard], 0, bytes.size());
    while (const auto member = walk.next()) {
      if (is_no_sample(member->name)) continue;
      std::string& name = fields.text();
      name = divided(member->name).field;
      std::ranges::transform(name, name.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      names.push_back(name);
      add(name, bytes.subspan(member->data, member->size), fields);
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end())
      throw DataError("two files '" + printable(*twice) + "'; samples must be divided by their names");
  }
  std::vector<ComponentOfField> guess(const RecordFields& first) const override {
    std::vector<ComponentOfField> found;
    for (const RecordFields::Field& field : first.all()) {
      if (field.name == "jpg" || field.name == "jpeg" || field.name == "png" || field.name == "webp")
        found.push_back({.component = "image", .field = "jpg;jpeg;png;webp"});
      if (field.name == "cls" || field.name == "cls.txt")
        found.push_back({.component = "label", .field = std::string(field.name)});
    }
    return found.size() == 2 ? found : std::vector<ComponentOfField>{};
  }

 private:
  /// A file as a field: arrays by their header, and the values of a JSON object one by one.
  static void add(const std::string& name, std::span<const uint8_t> content, RecordFields& fields) {
    RecordValue value{.kind = RecordValue::Kind::kBytes, .bytes = content};
    if (name == "npy" || name.ends_with(".npy")) {
      const NpyContent array = read_npy(content, name);
      value = {.kind = RecordValue::Kind::kArray,
               .bytes = array.elements,
               .type = array.type,
               .shape = Shape(array.sizes),
               .is_fortran = array.is_fortran};
    } else if (name == "json" || name.ends_with(".json")) {
      add_json(name, content, fields);
    }
    fields.add(name, std::move(value));
  }
  static void add_json(const std::string& name, std::span<const uint8_t> content, RecordFields& fields) {
    const auto root = nlohmann::json::parse(content.begin(), content.end(), nullptr, false);
    if (root.is_discarded()) throw DataError("'" + printable(name) + "' is not JSON");
    if (!root.is_object()) return;
    for (const auto& [key, value] : root.items()) {
      std::string& field = fields.text();
      field = name + "." + key;
      add_json_value(field, value, fields);
    }
  }
  static void add_json_value(const std::string& field, const nlohmann::json& value, RecordFields& fields) {
    const auto numbers = value.is_array() ? value : nlohmann::json::array({value});
    const bool are_integers =
        !numbers.empty() && std::ranges::all_of(numbers, [](const auto& n) { return n.is_number_integer(); });
    const bool are_numbers =
        !numbers.empty() && std::ranges::all_of(numbers, [](const auto& n) { return n.is_number(); });
    if (value.is_string()) {
      std::string& text = fields.text();
      text = value.template get<std::string>();
      fields.add(field, {.kind = RecordValue::Kind::kText,
                         .bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()}});
      return;
    }
    if (!are_numbers) return fields.add(field, {.what = std::string(value.type_name())});
    std::vector<uint8_t>& bytes = fields.bytes(numbers.size() * sizeof(int64_t));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (are_integers) {
        const auto number = numbers[i].template get<int64_t>();
        std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
      } else {
        const auto number = numbers[i].template get<double>();
        std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
      }
    }
    fields.add(field, {.kind = RecordValue::Kind::kArray,
                       .bytes = bytes,
                       .type = npy_type(are_integers ? "<i8" : "<f8"),
                       .shape = value.is_array() ? Shape({std::ssize(numbers)}) : Shape()});
  }
};

TPACK_REGISTER(Source, WebDataset, "WebDataset");

}  // namespace

const RecordLayout kTarSamples{"a tar archive", 2, find_tar_samples};

}  // namespace tpack
