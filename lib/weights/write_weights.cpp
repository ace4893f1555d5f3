#include "weights/write_weights.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "core/error.h"
#include "records/writer/zip_writer.h"
#include "sources/format/npy.h"
#include "weights/format/weight_formats.h"

namespace tpack {
namespace {

using WeightWriter = void (*)(const WeightFile& file, const std::string& path);

void write_npz_file(const WeightFile& file, const std::string& path) {
  const std::string unfinished = path + ".unfinished";
  try {
    ZipWriter archive(unfinished);
    for (const FileWeight& weight : file.weights) {
      const Tensor tensor = weight.read();
      archive.add(weight.name + ".npy", {npy_header(stored_type(tensor.dtype()), tensor.shape().sizes()),
                                         {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()}});
    }
    archive.finish(mark_of(file));
    std::filesystem::rename(unfinished, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw;
  }
}

void write_h5(const WeightFile& file, const std::string& path) {
  if (file.style != WeightStyle::kTpack)
    throw ConfigError("'" + path + "' would be a checkpoint of tpack with other names and layouts (" +
                      file.format +
                      "); `tpack ckpt import` writes one for a model, or convert to .safetensors or .npz");
  CheckpointContent content;
  for (const FileWeight& weight : file.weights) {
    std::string name = weight.name;
    std::ranges::replace(name, '.', '/');
    content.tensors.emplace(layout::kModel + name, weight.read());
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
  require_absent(path);
  for (const auto& [ending, write] : kWeightWriters)
    if (path.ends_with(ending)) return write(file, path);
  throw ConfigError("'" + path + "': weights are written as .safetensors, .npz or .h5");
}

}  // namespace tpack
