#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "core/text_encoding.h"
#include "weights/format/caffe_net.pb.h"
#include "weights/format/weight_formats.h"
#include "weights/weight_elements.h"

// Source: src/caffe/proto/caffe.proto and src/caffe/layers of Caffe 1.0.
namespace tpack {
namespace {

using Net = caffe::NetParameter;
using BlobNames = std::vector<std::string_view>;

struct CaffeType {
  std::string_view name;
  int v1 = 0;  // its number before May 2014; 0: there was none
  BlobNames blobs;
};

const std::vector<CaffeType>& caffe_types() {
  static const std::vector<CaffeType> kTypes = {
      {"Convolution", 4, {"weight", "bias"}},
      {"InnerProduct", 14, {"weight", "bias"}},
      {"Deconvolution", 39, {"weight", "bias"}},
      {"DepthwiseConvolution", 0, {"weight", "bias"}},
      {"ConvolutionDepthwise", 0, {"weight", "bias"}},
      {"Embed", 0, {"weight", "bias"}},
      {"BatchNorm", 0, {"running_mean", "running_var"}},  // and their factor
      {"Scale", 0, {"weight", "bias"}},
      {"Bias", 0, {"bias"}},
      {"PReLU", 0, {"weight"}},
      {"Normalize", 0, {"weight"}},
  };
  return kTypes;
}

/// A layer of either version.
struct CaffeLayer {
  std::string name;
  std::string type;  // empty if it is unknown
  bool is_transposed = false;
  const google::protobuf::RepeatedPtrField<caffe::BlobProto>* blobs = nullptr;
};

std::vector<CaffeLayer> layers_of(const Net& net) {
  std::vector<CaffeLayer> layers;
  for (const caffe::V1LayerParameter& layer : net.layers()) {
    const auto type = std::ranges::find_if(
        caffe_types(), [&](const CaffeType& known) { return known.v1 != 0 && known.v1 == layer.type(); });
    layers.push_back(
        {layer.name(), type == caffe_types().end() ? "" : std::string(type->name), false, &layer.blobs()});
  }
  for (const caffe::LayerParameter& layer : net.layer())
    layers.push_back({layer.name(), layer.type(), layer.inner_product_param().transpose(), &layer.blobs()});
  return layers;
}

StridedElements elements_of(const caffe::BlobProto& blob) {
  StridedElements elements;
  if (blob.has_shape())
    elements.shape.assign(blob.shape().dim().begin(), blob.shape().dim().end());
  else
    elements.shape = {blob.num(), blob.channels(), blob.height(), blob.width()};
  const bool is_double = blob.double_data_size() > 0;
  const void* const data =
      is_double ? static_cast<const void*>(blob.double_data().data()) : blob.data().data();
  const size_t bytes = is_double ? static_cast<size_t>(blob.double_data_size()) * sizeof(double)
                                 : static_cast<size_t>(blob.data_size()) * sizeof(float);
  elements.bytes = {static_cast<const uint8_t*>(data), bytes};
  return elements;
}

ElementType type_of(const caffe::BlobProto& blob) {
  return *element_type(blob.double_data_size() > 0 ? "float64" : "float32");
}

/// Without the leading axes of size 1 that all blobs had before `shape` was there.
std::vector<int64_t> without_old_axes(std::vector<int64_t> sizes, size_t rank) {
  while (sizes.size() > rank && sizes.front() == 1) sizes.erase(sizes.begin());
  return sizes;
}

class CaffeWeights {
 public:
  CaffeWeights(std::shared_ptr<const Net> net, WeightFile& file) : net_(std::move(net)), file_(file) {}

  void add_all() {
    for (const CaffeLayer& layer : layers_of(*net_)) {
      if (layer.type == "BatchNorm" && layer.blobs->size() == 3) factor_ = factor_of(layer);
      for (int i = 0; i < layer.blobs->size(); ++i) add(layer, i);
      factor_.reset();
    }
  }

 private:
  std::string where(const std::string& name) const { return file_.path + ": '" + printable(name) + "'"; }

  /// What the sums of a BatchNorm layer are divided by; 0 before its first step.
  double factor_of(const CaffeLayer& layer) const {
    const caffe::BlobProto& blob = (*layer.blobs)[2];
    const bool is_double = blob.double_data_size() > 0;
    if (blob.double_data_size() + blob.data_size() != 1)
      throw DataError(where(layer.name), "has a factor of its statistics that is not one number");
    return is_double ? blob.double_data(0) : static_cast<double>(blob.data(0));
  }

  void add(const CaffeLayer& layer, int index) {
    const auto known = std::ranges::find(caffe_types(), layer.type, &CaffeType::name);
    if (layer.type == "BatchNorm" && index == 2) return;
    const bool has_name = known != caffe_types().end() && static_cast<size_t>(index) < known->blobs.size();
    const std::string leaf =
        has_name ? std::string(known->blobs[static_cast<size_t>(index)]) : "blob" + std::to_string(index);
    const std::string name = valid_utf8(layer.name) + "." + leaf;
    const caffe::BlobProto& blob = (*layer.blobs)[index];
    StridedElements elements = elements_of(blob);
    const ElementType type = type_of(blob);
    const std::string at = where(name);
    weight_shape(elements.shape, at);  // its product fits
    const int64_t declared =
        std::accumulate(elements.shape.begin(), elements.shape.end(), int64_t{1}, std::multiplies<>());
    const auto there = static_cast<int64_t>(elements.bytes.size() / type.bytes);
    if (declared != there)
      throw DataError(
          at, "declares " + Shape(elements.shape).str() + " and has " + std::to_string(there) + " numbers");
    const bool is_kernel = leaf == "weight" && (layer.type == "InnerProduct" || layer.type == "Embed");
    if (is_kernel)
      elements.shape = without_old_axes(std::move(elements.shape), 2);
    else if (has_name && !(leaf == "weight" && layer.type.find("onvolution") != std::string::npos))
      elements.shape = without_old_axes(std::move(elements.shape), 1);
    elements.strides = strides_of(elements.shape);
    if (layer.is_transposed && is_kernel && elements.shape.size() == 2) {
      std::ranges::reverse(elements.shape);
      std::ranges::reverse(elements.strides);
    }
    const std::optional<double> divisor = factor_;
    file_.weights.push_back({name,
                             std::string(type.name),
                             {type.dtype, weight_shape(elements.shape, at)},
                             [net = net_, elements = std::move(elements), type, at, divisor] {
                               Tensor value = read_elements(elements, type, at);
                               if (divisor)
                                 for (float& number : value.span<float>())
                                   number = *divisor == 0 ? 0 : static_cast<float>(number / *divisor);
                               return value;
                             }});
  }

  std::shared_ptr<const Net> net_;
  WeightFile& file_;
  std::optional<double> factor_;
};

}  // namespace

WeightFile read_caffe_weights(const MappedFilePtr& file, const std::string& path) {
  const auto bytes = file->bytes();
  const auto net = std::make_shared<Net>();
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int>::max());
  if (bytes.size() > kMost || !net->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw DataError(path, "is damaged, or not a network of Caffe");
  WeightFile result{.path = path, .format = "Caffe", .is_in_order = true};
  CaffeWeights(net, result).add_all();
  if (result.weights.empty())
    throw DataError(path,
                    "has no layers with weights; networks from before 2014 must be converted with "
                    "Caffe's upgrade_net_proto_binary");
  return result;
}

}  // namespace tpack
