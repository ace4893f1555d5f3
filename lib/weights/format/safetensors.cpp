#include <algorithm>
#include <array>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text_encoding.h"
#include "system/file_io.h"
#include "weights/format/weight_formats.h"
#include "weights/weight_elements.h"

namespace tpack {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kMarkKey = "tpack";  // of metadata: mark_of

struct NamedType {
  std::string_view name;   // in the file
  std::string_view numpy;  // empty: numbers that no layer takes
  size_t bits;
};
constexpr std::array kSafetensorsTypes = {
    NamedType{"F64", "float64", 64},   NamedType{"F32", "float32", 32}, NamedType{"F16", "float16", 16},
    NamedType{"BF16", "bfloat16", 16}, NamedType{"I64", "int64", 64},   NamedType{"I32", "int32", 32},
    NamedType{"I16", "int16", 16},     NamedType{"I8", "int8", 8},      NamedType{"U64", "uint64", 64},
    NamedType{"U32", "uint32", 32},    NamedType{"U16", "uint16", 16},  NamedType{"U8", "uint8", 8},
    NamedType{"BOOL", "bool", 8},      NamedType{"F8_E4M3", "", 8},     NamedType{"F8_E5M2", "", 8},
    NamedType{"F8_E8M0", "", 8},       NamedType{"F4", "", 4},          NamedType{"C64", "", 64},
};

/// Takes no key twice: which of two tensors counts would depend on the reader.
nlohmann::json parse_header(std::string_view text, const std::string& path) {
  std::vector<std::string> keys_at_top;
  const auto note = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth == 1 && event == nlohmann::json::parse_event_t::key)
      keys_at_top.push_back(value.get<std::string>());
    return true;
  };
  nlohmann::json header;
  try {
    header = nlohmann::json::parse(text, note);
  } catch (const nlohmann::json::exception&) {
    throw DataError(path, "has a damaged header");
  }
  std::sort(keys_at_top.begin(), keys_at_top.end());
  const auto twice = std::adjacent_find(keys_at_top.begin(), keys_at_top.end());
  if (twice != keys_at_top.end()) throw DataError(path, "has two tensors named '" + printable(*twice) + "'");
  if (!header.is_object()) throw DataError(path, "has a damaged header");
  return header;
}

struct TensorEntry {
  std::string name;
  const NamedType* type = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

TensorEntry parse_entry(const std::string& name, const nlohmann::json& value, const std::string& where) {
  TensorEntry entry{.name = name};
  try {
    const auto type = value.at("dtype").get<std::string>();
    const auto known = std::ranges::find(kSafetensorsTypes, type, &NamedType::name);
    if (known == kSafetensorsTypes.end())
      throw DataError(where, "has elements of an unknown type '" + printable(type) + "'");
    entry.type = &*known;
    for (const nlohmann::json& size : value.at("shape")) {
      if (!size.is_number_unsigned()) throw DataError(where, "has a damaged shape");
      entry.shape.push_back(size.get<int64_t>());
    }
    const nlohmann::json& offsets = value.at("data_offsets");
    if (offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
      throw DataError(where, "has damaged offsets");
    entry.begin = offsets[0].get<uint64_t>();
    entry.end = offsets[1].get<uint64_t>();
  } catch (const nlohmann::json::exception&) {
    throw DataError(where, "has a damaged header");
  }
  return entry;
}

}  // namespace

WeightFile read_safetensors(const MappedFilePtr& file, const std::string& path) {
  const auto bytes = file->bytes();
  uint64_t header_bytes = 0;
  if (bytes.size() >= kLengthBytes) std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes < 2 || header_bytes > kMostHeaderBytes || header_bytes > bytes.size() - kLengthBytes)
    throw DataError(path, "ends in its header, or is damaged");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, header_bytes);
  const auto data = bytes.subspan(kLengthBytes + header_bytes);
  const nlohmann::json header = parse_header(text, path);
  std::vector<TensorEntry> entries;
  WeightFile result{.path = path, .format = "safetensors"};
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadata) {
      entries.push_back(parse_entry(name, value, path + ": '" + printable(name) + "'"));
      continue;
    }
    for (const auto& [key, note] : value.items())
      if (key == kMarkKey && note.is_string())
        follow_mark(result, note.get<std::string>());
      else
        result.others.emplace_back(key, note.is_string() ? note.get<std::string>() : note.dump());
  }
  std::ranges::stable_sort(entries, {}, [](const TensorEntry& e) { return std::pair(e.begin, e.end); });
  uint64_t end = 0;
  for (const TensorEntry& entry : entries) {
    const std::string where = path + ": '" + printable(entry.name) + "'";
    if (entry.begin != end || entry.end < entry.begin || entry.end > data.size())
      throw DataError(where, entry.end > data.size() ? "ends after the end of the file"
                                                     : "overlaps another tensor, or has a gap before it");
    end = entry.end;
    const Shape shape = weight_shape(entry.shape, where);
    const uint64_t declared = static_cast<uint64_t>(shape.elements()) * entry.type->bits / 8;
    if (declared != entry.end - entry.begin)
      throw DataError(where, "declares " + shape.str() + " of type " + std::string(entry.type->name) +
                                 " and has " + std::to_string(entry.end - entry.begin) + " bytes");
    const auto type = element_type(entry.type->numpy);
    if (!type) {
      result.others.emplace_back(entry.name,
                                 "numbers of type " + std::string(entry.type->name) + " " + shape.str());
      continue;
    }
    const StridedElements elements{data.subspan(entry.begin, declared), 0, entry.shape,
                                   strides_of(entry.shape)};
    result.weights.push_back(
        {entry.name, std::string(type->name), {type->dtype, shape}, [file, elements, type, where] {
           return read_elements(elements, *type, where);
         }});
  }
  if (end != data.size())
    throw DataError(path, "has " + std::to_string(data.size() - end) + " bytes that belong to no tensor");
  return result;
}

void write_safetensors(const WeightFile& file, const std::string& path) {
  constexpr size_t kAlignment = 8;
  nlohmann::ordered_json header = {{kMetadata, {{"format", "pt"}, {kMarkKey, mark_of(file)}}}};
  std::vector<Tensor> tensors;
  uint64_t at = 0;
  for (const FileWeight& weight : file.weights) {
    tensors.push_back(weight.read());
    const Tensor& tensor = tensors.back();
    const auto type = std::ranges::find(kSafetensorsTypes, name_of(tensor.dtype()), &NamedType::numpy);
    header[weight.name] = {{"dtype", type->name},
                           {"shape", tensor.shape().sizes()},
                           {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size();
  std::vector<std::string_view> parts = {{reinterpret_cast<const char*>(&length), kLengthBytes}, text};
  for (const Tensor& tensor : tensors)
    parts.emplace_back(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  write_whole_file(path, parts);
}

}  // namespace tpack
