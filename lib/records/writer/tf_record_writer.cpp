#include "core/error.h"
#include "core/text.h"
#include "records/format/tf_example.h"
#include "records/format/tf_record.h"
#include "records/record_layouts.h"
#include "records/writer/growing_file.h"
#include "records/writer/record_writer.h"

namespace tpack {
namespace {

/// Each sample is a tf.Example with a feature for each component; the shape of an array is the feature
/// NAME/shape.
class TfRecordWriter final : public RecordWriter {
 public:
  TfRecordWriter(const std::string& folder, Spec spec) : spec_(std::move(spec)), file_(folder) {
    for (const ComponentSpec& component : spec_)
      if (component.tensor.dtype == DType::kFloat64)
        throw ConfigError("TFRecord files have no float64, which component '" + component.name +
                          "' is; write .lmdb, .npz or .h5");
  }

  int64_t samples() const override { return file_.records(); }
  std::string encode(Datapoint& sample, int64_t /*index*/) const override {
    TfExampleWriter example;
    for (size_t i = 0; i < spec_.size(); ++i) {
      if (sample.is_image(i) && sample.image(i).encoded()) {
        const auto bytes = sample.image(i).encoded_bytes();
        example.add_bytes(spec_[i].name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      } else {
        add(spec_[i].name, sample.to_tensor(i), example);
      }
    }
    const std::string message = example.finish();
    const TfRecordFrame frame = tf_record_frame(message);
    std::string record(frame.header.begin(), frame.header.end());
    record += message;
    record.append(frame.footer.begin(), frame.footer.end());
    return record;
  }
  void append(std::string encoded) override { file_.append(encoded); }
  void save() override { file_.save(); }
  void finish(const std::string& path) override { file_.finish(path, kTfRecords, {}); }
  std::vector<ComponentOfField> components() const override {
    std::vector<ComponentOfField> all;
    for (const ComponentSpec& component : spec_) all.push_back(component_as(component, component.name));
    return all;
  }

 private:
  static void add(const std::string& name, const Tensor& values, TfExampleWriter& example) {
    const Shape& shape = values.shape();
    if (values.dtype() == DType::kFloat32) {
      example.add_floats(name, values.span<float>());
    } else if (values.dtype() == DType::kUInt8 && shape.rank() > 0) {
      example.add_bytes(name, {reinterpret_cast<const char*>(values.raw()), values.bytes()});
    } else {
      std::vector<int64_t> numbers;
      for (int64_t i = 0; i < values.elements(); ++i) numbers.push_back(static_cast<int64_t>(values.at(i)));
      example.add_integers(name, numbers);
    }
    if (shape.rank() > 0) example.add_integers(name + "/shape", shape.sizes());
  }

  Spec spec_;
  GrowingFile file_;
};

}  // namespace

std::unique_ptr<RecordWriter> tf_record_writer(const std::string& folder, const Spec& spec) {
  return std::make_unique<TfRecordWriter>(folder, spec);
}

}  // namespace tpack
