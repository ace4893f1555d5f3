#include "weights/write_weights.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "records/writer/zip_writer.h"
#include "sources/format/npy.h"
#include "system/file_io.h"

namespace tpack {
namespace {

using WeightWriter = void (*)(const WeightFile& file, const std::string& path);

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

std::vector<int64_t> sizes_of_tensor(const Tensor& tensor) {
  return {tensor.shape().sizes().begin(), tensor.shape().sizes().end()};
}

const char* safetensors_name(DType type) {
  switch (type) {
    case DType::kFloat64:
      return "F64";
    case DType::kInt32:
      return "I32";
    case DType::kInt64:
      return "I64";
    case DType::kUInt8:
      return "U8";
    case DType::kBool:
      return "BOOL";
    default:
      return "F32";
  }
}

void write_safetensors(const WeightFile& file, const std::string& path) {
  constexpr size_t kAlignment = 8;
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  std::vector<Tensor> tensors;
  uint64_t at = 0;
  for (const FileWeight& weight : file.weights) {
    tensors.push_back(weight.read());
    const Tensor& tensor = tensors.back();
    header[weight.name] = {{"dtype", safetensors_name(tensor.dtype())},
                           {"shape", sizes_of_tensor(tensor)},
                           {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size();
  const std::string count(reinterpret_cast<const char*>(&length), sizeof length);
  std::vector<std::string_view> parts = {count, text};
  for (const Tensor& tensor : tensors) parts.push_back(bytes_of(tensor));
  write_whole_file(path, parts);
}

void write_npz_file(const WeightFile& file, const std::string& path) {
  const std::string unfinished = path + ".unfinished";
  try {
    ZipWriter archive(unfinished);
    for (const FileWeight& weight : file.weights) {
      const Tensor tensor = weight.read();
      archive.add(weight.name + ".npy",
                  {npy_header(stored_type(tensor.dtype()), sizes_of_tensor(tensor)), bytes_of(tensor)});
    }
    archive.finish();
    std::filesystem::rename(unfinished, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw;
  }
}

void write_h5(const WeightFile& file, const std::string& path) {
  CheckpointContent content;
  for (const FileWeight& weight : file.weights) {
    std::string name = weight.name;
    std::ranges::replace(name, '.', '/');
    content.tensors.emplace("model/" + name, weight.read());
  }
  save_checkpoint(path, std::move(content));
}

constexpr std::array<std::pair<std::string_view, WeightWriter>, 3> kWeightWriters = {
    {{".safetensors", write_safetensors}, {".npz", write_npz_file}, {".h5", write_h5}}};

}  // namespace

bool is_writable_weight_file(std::string_view path) {
  return std::ranges::any_of(kWeightWriters,
                             [&](const auto& writer) { return path.ends_with(writer.first); });
}

void write_weights(const WeightFile& file, const std::string& path) {
  if (std::filesystem::exists(path)) throw ConfigError("'" + path + "' exists; name a new file");
  for (const auto& [ending, write] : kWeightWriters)
    if (path.ends_with(ending)) return write(file, path);
  throw ConfigError("'" + path + "': weights are written as .safetensors, .npz or .h5");
}

}  // namespace tpack
