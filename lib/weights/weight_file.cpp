#include "weights/weight_file.h"

#include <algorithm>
#include <array>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "core/error.h"
#include "sources/format/zip.h"
#include "system/file_kind.h"
#include "weights/format/weight_formats.h"

namespace tpack {
namespace {

constexpr std::array<std::pair<WeightStyle, std::string_view>, 3> kMarks = {
    {{WeightStyle::kTpack, "tpack"}, {WeightStyle::kTorch, "torch"}, {WeightStyle::kKeras, "keras"}}};
constexpr std::string_view kOrderMark = "-in-order";

/// The first bytes of a safetensors file are the length of its header, which begins with a brace.
bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && bytes[7] == 0 && bytes[6] == 0;
}

constexpr std::string_view kZipSignature = "PK\x03\x04";

/// The variables of the model.
WeightFile read_checkpoint_weights(const std::string& path) {
  const auto content = std::make_shared<const CheckpointContent>(load_checkpoint(path));
  WeightFile result{.path = path, .format = "checkpoint of tpack", .style = WeightStyle::kTpack};
  for (const auto& [name, value] : content->tensors) {
    if (!name.starts_with(layout::kModel)) continue;
    result.weights.push_back({name.substr(layout::kModel.size()), name_of(value.dtype()), value.spec(),
                              [content, tensor = &value] { return *tensor; }});
  }
  return result;
}

WeightFile opened(const MappedFilePtr& file, const std::string& path) {
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const FileKind kind = kind_of_content(text.substr(0, 512));
  if (kind.form == FileKind::Form::kCheckpoint) return read_checkpoint_weights(path);
  if (is_hdf5(text)) return read_hdf5_weights(file, path);
  if (text.starts_with(kZipSignature)) {
    if (is_keras_archive(file, path)) return read_keras_archive(file, path);
    std::optional<WeightFile> torch = read_torch_archive(file, path);
    return torch ? std::move(*torch) : read_npz_weights(file, path);
  }
  if (is_torch_stream(text)) return read_torch_stream(file, path);
  if (is_safetensors(text)) return read_safetensors(file, path);
  if (kind.form != FileKind::Form::kStandIn) {  // messages of protobuf have no signature
    if (path.ends_with(".onnx")) return read_onnx_weights(file, path);
    if (path.ends_with(".caffemodel")) return read_caffe_weights(file, path);
  }
  constexpr std::string_view kWanted = "a file of weights";
  constexpr std::string_view kKnown =
      "known are checkpoints of tpack, safetensors, .npz, PyTorch (.pt, .pth), Keras (.h5, .keras), and "
      "files "
      "named .onnx and .caffemodel";
  throw DataError(path, kind.is_known() ? "is " + kind.rejected_as(kWanted, kKnown)
                                        : "is not " + std::string(kWanted) + "; " + std::string(kKnown));
}

/// Readers of parts do not know the path.
CheckpointError as_checkpoint_error(const std::string& path, const DataError& error) {
  const std::string text = error.what();
  const bool has_path = text.starts_with(path + ": ");
  return {path, has_path ? text.substr(path.size() + 2) : text};
}

}  // namespace

const FileWeight* WeightFile::find(const std::string& name) const {
  const auto found = std::ranges::find(weights, name, &FileWeight::name);
  return found == weights.end() ? nullptr : &*found;
}

std::string mark_of(const WeightFile& file) {
  const auto style = std::ranges::find(kMarks, file.style, &std::pair<WeightStyle, std::string_view>::first);
  const bool keeps_order =
      file.is_in_order && std::ranges::none_of(file.weights, [](const FileWeight& weight) {
        return !weight.used_as.empty();  // the names alone do not tell the layers
      });
  return std::string(style->second) + (keeps_order ? std::string(kOrderMark) : "");
}

void follow_mark(WeightFile& file, std::string_view mark) {
  for (const auto& [style, name] : kMarks) {
    const bool is_in_order = mark == std::string(name) + std::string(kOrderMark);
    if (mark != name && !is_in_order) continue;
    file.style = style;
    file.is_in_order = is_in_order;
  }
}

WeightFile open_weight_file(const std::string& path) {
  try {
    WeightFile file = opened(std::make_shared<const MappedFile>(path), path);
    for (FileWeight& weight : file.weights) {
      weight.read = [read = std::move(weight.read), path] {
        try {
          return read();
        } catch (const DataError& error) {
          throw as_checkpoint_error(path, error);
        }
      };
    }
    return file;
  } catch (const DataError& error) {
    throw as_checkpoint_error(path, error);
  }
}

}  // namespace tpack
