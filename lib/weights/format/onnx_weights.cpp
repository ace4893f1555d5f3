#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "core/error.h"
#include "core/text_encoding.h"
#include "weights/format/onnx_model.pb.h"
#include "weights/format/weight_formats.h"
#include "weights/weight_elements.h"

// Source: onnx/onnx.proto of ONNX 1.17, IR version 10.
namespace tpack {
namespace {

using OnnxTensor = onnx::Tensor;

/// NumPy's names of the types, by their numbers; empty: types that no layer takes.
constexpr std::array<std::string_view, 17> kOnnxTypes = {
    "",     "float32", "uint8",   "int8",   "uint16", "int16", "int32", "int64",   "",
    "bool", "float16", "float64", "uint32", "uint64", "",      "",      "bfloat16"};

/// How a node uses a tensor.
struct OnnxUse {
  size_t node = 0;
  int input = 0;
  bool is_transposed = false;  // [inputs, outputs] of a product
  std::string leaf = {};       // what PyTorch calls it; empty: it does not tell
  std::string owner = {};      // the name of the node of the layer
};

/// What PyTorch calls the inputs of a node, from the first on.
struct InputNames {
  std::string_view op;
  std::array<std::string_view, 5> inputs;
};
constexpr std::array kInputNames = {
    InputNames{"Conv", {"", "weight", "bias"}},
    InputNames{"ConvTranspose", {"", "weight", "bias"}},
    InputNames{"Gemm", {"", "weight", "bias"}},
    InputNames{"MatMul", {"", "weight"}},
    InputNames{"BatchNormalization", {"", "weight", "bias", "running_mean", "running_var"}},
    InputNames{"InstanceNormalization", {"", "weight", "bias"}},
    InputNames{"LayerNormalization", {"", "weight", "bias"}},
    InputNames{"GroupNormalization", {"", "weight", "bias"}},
    InputNames{"PRelu", {"", "weight"}},
    InputNames{"Gather", {"weight"}},
};

bool has_transposed_weight(const onnx::Node& node) {
  if (node.op_type() == "MatMul") return true;
  if (node.op_type() != "Gemm") return false;
  return std::ranges::none_of(node.attribute(), [](const onnx::Attribute& attribute) {
    return attribute.name() == "transB" && attribute.i() != 0;
  });
}

/// The uses of all tensors, by name, in the order of the nodes.
std::map<std::string, std::vector<OnnxUse>> uses_of_tensors(const onnx::Graph& graph) {
  std::map<std::string, std::vector<OnnxUse>> uses;
  std::map<std::string, size_t> products;  // nodes MatMul, by their output
  for (int n = 0; n < graph.node_size(); ++n) {
    const onnx::Node& node = graph.node(n);
    const auto at = static_cast<size_t>(n);
    const auto names = std::ranges::find(kInputNames, node.op_type(), &InputNames::op);
    for (int i = 0; i < node.input_size(); ++i) {
      OnnxUse use{.node = at, .input = i, .owner = node.op_type() + "_" + std::to_string(n)};
      if (names != kInputNames.end() && static_cast<size_t>(i) < names->inputs.size())
        use.leaf = names->inputs[static_cast<size_t>(i)];
      use.is_transposed = i == 1 && has_transposed_weight(node);
      if (node.op_type() == "Add" && node.input_size() == 2) {  // the bias of a MatMul
        if (const auto product = products.find(node.input(1 - i)); product != products.end()) {
          use.leaf = "bias";
          use.owner = "MatMul_" + std::to_string(product->second);
        }
      }
      uses[node.input(i)].push_back(std::move(use));
    }
    if (node.op_type() == "MatMul" && node.output_size() == 1) products.emplace(node.output(0), at);
  }
  return uses;
}

/// Elements of another width than in the message.
template <class Field>
std::vector<uint8_t> narrowed(const Field& values, size_t bytes) {
  std::vector<uint8_t> all(static_cast<size_t>(values.size()) * bytes);
  uint8_t* to = all.data();
  for (const auto value : values) {
    std::memcpy(to, &value, bytes);  // little-endian
    to += bytes;
  }
  return all;
}

template <class Field>
std::span<const uint8_t> bytes_of_field(const Field& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()),
          static_cast<size_t>(values.size()) * sizeof(*values.data())};
}

/// The bytes of a tensor's elements; `narrow` owns them if the message has them in another width.
std::span<const uint8_t> element_bytes(const OnnxTensor& tensor, const ElementType& type,
                                       std::vector<uint8_t>& narrow) {
  if (tensor.has_raw_data())
    return {reinterpret_cast<const uint8_t*>(tensor.raw_data().data()), tensor.raw_data().size()};
  if (type.name == "float32") return bytes_of_field(tensor.float_data());
  if (type.name == "float64") return bytes_of_field(tensor.double_data());
  if (type.name == "int64") return bytes_of_field(tensor.int64_data());
  if (type.name == "uint64" || type.name == "uint32")
    narrow = narrowed(tensor.uint64_data(), type.bytes);
  else
    narrow = narrowed(tensor.int32_data(), type.bytes);
  return narrow;
}

/// How many elements there are, without their bytes.
size_t elements_there(const OnnxTensor& tensor, const ElementType& type) {
  if (tensor.has_raw_data())
    return tensor.raw_data().size() % type.bytes == 0 ? tensor.raw_data().size() / type.bytes : SIZE_MAX;
  if (type.name == "float32") return static_cast<size_t>(tensor.float_data_size());
  if (type.name == "float64") return static_cast<size_t>(tensor.double_data_size());
  if (type.name == "int64") return static_cast<size_t>(tensor.int64_data_size());
  if (type.name == "uint64" || type.name == "uint32") return static_cast<size_t>(tensor.uint64_data_size());
  return static_cast<size_t>(tensor.int32_data_size());
}

class OnnxWeights {
 public:
  OnnxWeights(std::shared_ptr<const onnx::Model> model, WeightFile& file)
      : model_(std::move(model)), file_(file) {}

  void add_all() {
    add_graph(model_->graph(), "");
    std::ranges::stable_sort(found_, {}, [](const Found& one) { return std::pair(one.node, one.input); });
    for (Found& one : found_) file_.weights.push_back(std::move(one.weight));
  }

 private:
  struct Found {
    FileWeight weight;
    size_t node = SIZE_MAX;  // of its first use
    int input = 0;
  };

  /// Those of branches and bodies of loops come after those of the graph, as NODE.ATTRIBUTE.NAME.
  void add_graph(const onnx::Graph& graph, const std::string& prefix) {  // NOLINT(misc-no-recursion)
    prefix_ = prefix;
    uses_ = uses_of_tensors(graph);
    for (const OnnxTensor& tensor : graph.initializer()) add(tensor, tensor.name());
    for (const onnx::Node& node : graph.node()) {
      if (node.op_type() != "Constant" || node.output_size() != 1) continue;
      for (const onnx::Attribute& attribute : node.attribute())
        if (attribute.name() == "value" && attribute.has_t() && attribute.t().dims_size() > 0)
          add(attribute.t(), node.output(0));
    }
    nodes_before_ += static_cast<size_t>(graph.node_size());
    for (int n = 0; n < graph.node_size(); ++n) {
      const onnx::Node& node = graph.node(n);
      const std::string name = node.has_name() ? node.name() : node.op_type() + "_" + std::to_string(n);
      for (const onnx::Attribute& attribute : node.attribute())
        if (attribute.has_g()) add_graph(attribute.g(), prefix + name + "." + attribute.name() + ".");
    }
  }

  void add(const OnnxTensor& tensor, const std::string& tensor_name) {
    const std::string name = valid_utf8(prefix_ + tensor_name);
    const std::string where = file_.path + ": '" + printable(name) + "'";
    reject_external(tensor, where);
    const auto number = static_cast<size_t>(std::max(tensor.data_type(), 0));
    const auto known = element_type(number < kOnnxTypes.size() ? kOnnxTypes[number] : "");
    if (!known) {
      file_.others.emplace_back(name, "a tensor of type " + std::to_string(tensor.data_type()));
      return;
    }
    const ElementType type = *known;
    StridedElements elements{
        .bytes = {}, .offset = 0, .shape = {tensor.dims().begin(), tensor.dims().end()}, .strides = {}};
    Shape shape = weight_shape(elements.shape, where);
    const size_t there = elements_there(tensor, type);
    if (static_cast<size_t>(shape.elements()) != there)
      throw DataError(where, "declares " + shape.str() + " of type " + std::string(type.name) +
                                 " and has other numbers; it is damaged");
    elements.strides = strides_of(elements.shape);
    Found one;
    if (const auto uses = uses_.find(tensor_name); uses != uses_.end()) {
      const OnnxUse& first = uses->second.front();
      one.node = nodes_before_ + first.node;
      one.input = first.input;
      if (!first.leaf.empty()) one.weight.used_as = prefix_ + first.owner + "." + first.leaf;
      if (elements.shape.size() == 2 && std::ranges::all_of(uses->second, &OnnxUse::is_transposed)) {
        std::ranges::reverse(elements.shape);
        std::ranges::reverse(elements.strides);
        shape = Shape(elements.shape);
      }
    }
    one.weight.name = name;
    one.weight.stored = std::string(type.name);
    one.weight.spec = {type.dtype, shape};
    one.weight.read = [model = model_, from = &tensor, elements = std::move(elements), type, where] {
      std::vector<uint8_t> narrow;
      StridedElements filled = elements;
      filled.bytes = element_bytes(*from, type, narrow);
      return read_elements(filled, type, where);
    };
    found_.push_back(std::move(one));
  }

  /// A file of another user must not choose which other files are read.
  static void reject_external(const OnnxTensor& tensor, const std::string& where) {
    if (tensor.data_location() == 0 && tensor.external_data_size() == 0) return;
    std::string location = "another file";
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") location = "the file '" + printable(entry.value()) + "'";
    throw DataError(where,
                    "has its numbers in " + location +
                        "; write all into one file: onnx.save(onnx.load(\"model.onnx\"), \"one.onnx\"), "
                        "or torch.onnx.export(..., external_data=False)");
  }

  std::shared_ptr<const onnx::Model> model_;
  WeightFile& file_;
  std::string prefix_;                                // of the names in the graph that is read
  std::map<std::string, std::vector<OnnxUse>> uses_;  // of its tensors
  size_t nodes_before_ = 0;                           // in graphs that were read before
  std::vector<Found> found_;
};

}  // namespace

WeightFile read_onnx_weights(const MappedFilePtr& file, const std::string& path) {
  const auto bytes = file->bytes();
  const auto model = std::make_shared<onnx::Model>();
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int>::max());
  if (bytes.size() > kMost || !model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !model->has_graph())
    throw DataError(path, "is damaged, or not a model of ONNX");
  WeightFile result{.path = path, .format = "ONNX", .is_in_order = true};
  OnnxWeights(model, result).add_all();
  if (model->has_producer_name())
    result.others.emplace_back("producer",
                               valid_utf8(model->producer_name() + " " + model->producer_version()));
  return result;
}

}  // namespace tpack
