#include <cstdio>

#include "image/format/image_formats.h"
#include "records/record_layouts.h"
#include "records/writer/growing_file.h"
#include "records/writer/record_writer.h"
#include "sources/array_of_component.h"
#include "sources/format/tar.h"

namespace tpack {
namespace {

/// Each sample is some files with the number of the sample as their key: images as they are (jpg), whole
/// numbers as text (cls), arrays as npy.
class TarWriter final : public RecordWriter {
 public:
  TarWriter(const std::string& folder, Spec spec) : spec_(std::move(spec)), file_(folder) {}

  int64_t samples() const override { return file_.records(); }
  std::string encode(Datapoint& sample, int64_t index) const override {
    std::string key = std::to_string(index);
    constexpr size_t kDigits = 9;
    key.insert(0, kDigits - std::min(kDigits, key.size()), '0');
    std::string record;
    const auto add = [&](const std::string& field, std::string_view content) {
      record += tar_header(key + "." + field, content.size());
      record += content;
      record.append(tar_padding(content.size()), '\0');
    };
    for (size_t i = 0; i < spec_.size(); ++i) {
      const std::string& name = spec_[i].name;
      if (sample.is_image(i) && sample.image(i).encoded()) {
        const auto bytes = sample.image(i).encoded_bytes();
        const ImageFormat* format = image_format_of(bytes);
        const std::string ending(format == nullptr ? ".jpg" : format->endings[0]);
        add(name == "image" ? ending.substr(1) : name + ending,
            {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        continue;
      }
      const Tensor& values = sample.to_tensor(i);
      if (is_whole_number(values.spec())) {
        add(name == "label" ? "cls" : name + ".cls", std::to_string(static_cast<int64_t>(values.at(0))));
      } else {
        const std::string header = npy_header(stored_type(values.dtype()), values.shape().sizes());
        add(name + ".npy", header + std::string(reinterpret_cast<const char*>(values.raw()), values.bytes()));
      }
    }
    return record;
  }
  void append(std::string encoded) override { file_.append(encoded); }
  void save() override { file_.save(); }
  void finish(const std::string& path) override {
    file_.finish(path, kTarSamples, std::string(2 * kTarBlock, '\0'));
  }
  std::vector<ComponentOfField> components() const override {
    std::vector<ComponentOfField> all;
    for (const ComponentSpec& component : spec_) {
      const std::string& name = component.name;
      std::string field = name + ".npy";
      if (is_whole_number(component.tensor)) field = name == "label" ? "cls" : name + ".cls";
      if (component.is_image) {  // or not encoded
        std::string before;
        if (name != "image") before = name + ".";
        for (const char* ending : {"jpg", "png", "webp", "gif", "bmp", "tif", "ppm"})
          field += ";" + before + ending;
      }
      all.push_back(component_as(component, field));
    }
    return all;
  }

 private:
  static bool is_whole_number(const TensorSpec& spec) {
    return spec.shape.rank() == 0 &&
           (spec.dtype == DType::kInt32 || spec.dtype == DType::kInt64 || spec.dtype == DType::kUInt8);
  }

  Spec spec_;
  GrowingFile file_;
};

}  // namespace

std::unique_ptr<RecordWriter> tar_writer(const std::string& folder, const Spec& spec) {
  return std::make_unique<TarWriter>(folder, spec);
}

}  // namespace tpack
