#include "records/writer/array_writer.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "core/error.h"
#include "core/text.h"
#include "records/writer/zip_writer.h"
#include "sources/format/npy.h"
#include "system/file_io.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

class ArrayWriter final : public RecordWriter {
 public:
  using Assemble = void (*)(const std::vector<ArrayFile>& arrays, const std::string& path);
  ArrayWriter(const std::string& folder, Spec spec, Assemble assemble)
      : spec_(std::move(spec)), assemble_(assemble), paths_(spec_.size()), shapes_(spec_.size()) {
    for (size_t i = 0; i < spec_.size(); ++i) {
      paths_[i] = folder + "/" + std::to_string(i);
      if (spec_[i].tensor.shape.known()) shapes_[i] = spec_[i].tensor.shape;
    }
    read_shapes(folder);
    for (size_t i = 0; i < spec_.size(); ++i) {
      std::error_code gone;
      const uint64_t bytes = std::filesystem::file_size(paths_[i], gone);
      const int64_t rows = gone || !shapes_[i] ? 0 : static_cast<int64_t>(bytes / row_bytes(i));
      samples_ = i == 0 ? rows : std::min(samples_, rows);
    }
    for (size_t i = 0; i < spec_.size(); ++i) {
      const uint64_t keep = samples_ == 0 ? 0 : static_cast<uint64_t>(samples_) * row_bytes(i);
      files_.push_back(std::make_unique<AppendFile>(paths_[i], keep));
    }
    buffers_.resize(spec_.size());
  }

  int64_t samples() const override { return samples_; }
  /// The elements of all components, one after the other.
  std::string encode(Datapoint& sample, int64_t /*index*/) const override {
    std::string all;
    for (size_t i = 0; i < spec_.size(); ++i) {
      const Tensor& values = sample.to_tensor(i);
      require_shape(i, values.shape());
      all.append(reinterpret_cast<const char*>(values.raw()), values.bytes());
    }
    return all;
  }
  void append(std::string encoded) override {
    constexpr size_t kTogether = size_t{4} << 20U;
    std::string_view left = encoded;
    for (size_t i = 0; i < spec_.size(); ++i) {
      const size_t bytes = row_bytes(i);
      buffers_[i] += left.substr(0, bytes);
      left.remove_prefix(bytes);
      if (buffers_[i].size() >= kTogether) write_out(i);
    }
    ++samples_;
  }
  void save() override {
    write_shapes();
    for (size_t i = 0; i < spec_.size(); ++i) {
      write_out(i);
      files_[i]->sync();
    }
  }
  void finish(const std::string& path) override {
    save();
    std::vector<ArrayFile> arrays;
    for (size_t i = 0; i < spec_.size(); ++i) {
      files_[i]->close();
      const Shape shape = shapes_[i]->prepend(samples_);
      arrays.push_back({spec_[i].name, spec_[i].tensor.dtype,
                        std::vector<int64_t>(shape.sizes().begin(), shape.sizes().end()), paths_[i]});
    }
    const std::string whole = paths_[0] + ".whole";
    assemble_(arrays, whole);
    std::filesystem::rename(whole, path);
  }

 private:
  size_t row_bytes(size_t i) const {
    return static_cast<size_t>(shapes_[i]->elements()) * size_of(spec_[i].tensor.dtype);
  }
  void write_out(size_t i) {
    files_[i]->write(buffers_[i]);
    buffers_[i].clear();
  }
  /// The shape of the first sample is that of all.
  void require_shape(size_t i, const Shape& shape) const {
    const std::lock_guard lock(of_shapes_);
    if (!shapes_[i]) shapes_[i] = shape;
    if (*shapes_[i] == shape) return;
    throw DataError("component '" + spec_[i].name + "' is " + shape.str() + ", in other samples it is " +
                    shapes_[i]->str() +
                    "; .npz and .h5 hold samples of one size: write .lmdb, .tfrecord or .tar, which hold "
                    "any, or put a Resize into the flow and use --maps");
  }
  void write_shapes() {
    const std::lock_guard lock(of_shapes_);
    std::string text;
    for (const auto& shape : shapes_) {
      for (const int64_t size : shape ? shape->sizes() : std::span<const int64_t>())
        text += std::to_string(size) + " ";
      text += shape ? "\n" : "?\n";
    }
    write_whole_file(std::filesystem::path(paths_[0]).parent_path() / "shapes", text);
  }
  void read_shapes(const std::string& folder) {
    const auto text = read_whole_file(folder + "/shapes");
    if (!text) return;
    const std::vector<std::string> lines = split(*text, '\n');
    for (size_t i = 0; i < std::min(lines.size(), shapes_.size()); ++i) {
      if (lines[i] == "?") continue;
      std::vector<int64_t> sizes;
      for (const std::string& part : split(lines[i], ' '))
        if (!part.empty()) sizes.push_back(std::stoll(part));
      shapes_[i] = Shape(sizes);
    }
  }

  Spec spec_;
  Assemble assemble_;
  std::vector<std::string> paths_;
  mutable std::mutex of_shapes_;
  mutable std::vector<std::optional<Shape>> shapes_;  // of a sample, once known
  std::vector<std::unique_ptr<AppendFile>> files_;
  std::vector<std::string> buffers_;
  int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<RecordWriter> array_writer(const std::string& folder, const Spec& spec,
                                           void (*assemble)(const std::vector<ArrayFile>& arrays,
                                                            const std::string& path)) {
  return std::make_unique<ArrayWriter>(folder, spec, assemble);
}

void write_npz(const std::vector<ArrayFile>& arrays, const std::string& path) {
  ZipWriter archive(path);
  for (const ArrayFile& array : arrays) {
    const std::string header = npy_header(stored_type(array.dtype), array.sizes);
    const MappedFile mapped(array.elements);
    archive.add(array.name + ".npy",
                {header, {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}});
  }
  archive.finish();
}

}  // namespace tpack
