// Files of weights of other programs.
#include <array>
#include <filesystem>
#include <unistd.h>

#include <hdf5.h>

#include "core/error.h"
#include "core/hdf5_mutex.h"
#include "dataflow/test_databases.h"
#include "fuzz/parsers.h"
#include "system/file_io.h"
#include "weights/format/caffe_net.pb.h"
#include "weights/format/onnx_model.pb.h"
#include "weights/format/weight_formats.h"

namespace tpack::fuzz {
namespace {

/// Reads the tensors that a file lists; each has the shape that it declares.
void read_weights(const WeightFile& file) {
  for (const FileWeight& weight : file.weights) {
    try {
      if (weight.read().spec() != weight.spec) broken_promise("a tensor has another shape than it declares");
    } catch (const Error&) {
      continue;  // the next one may be whole
    }
  }
}

using ReadFile = WeightFile (*)(const MappedFilePtr& file, const std::string& path);

/// A parser of bytes of one format.
auto parser_of(ReadFile read) {
  return [read](Input input) {
    read_weights(read(std::make_shared<const MappedFile>(file_with(input)), "weights"));
  };
}

void parse_torch_archive(Input input) {
  const auto file = std::make_shared<const MappedFile>(file_with(input));
  if (const auto found = read_torch_archive(file, "weights")) read_weights(*found);
}

void parse_keras_archive(Input input) {
  const auto file = std::make_shared<const MappedFile>(file_with(input));
  if (is_keras_archive(file, "weights")) read_weights(read_keras_archive(file, "weights"));
}

void parse_any_weights(Input input) { read_weights(open_weight_file(file_with(input))); }

std::string safetensors_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

// {"w": a tensor [2, 1], "n": 3}, as torch.save writes it.
const std::string kTorchPickle(
    "\x80\x02\x7d\x71\x00\x28\x58\x01\x00\x00\x00\x77\x71\x01\x63\x74\x6f\x72\x63\x68\x2e\x5f\x75\x74"
    "\x69\x6c\x73\x0a\x5f\x72\x65\x62\x75\x69\x6c\x64\x5f\x74\x65\x6e\x73\x6f\x72\x5f\x76\x32\x0a\x71"
    "\x02\x28\x28\x58\x07\x00\x00\x00\x73\x74\x6f\x72\x61\x67\x65\x71\x03\x63\x74\x6f\x72\x63\x68\x0a"
    "\x46\x6c\x6f\x61\x74\x53\x74\x6f\x72\x61\x67\x65\x0a\x71\x04\x58\x01\x00\x00\x00\x30\x71\x05\x58"
    "\x03\x00\x00\x00\x63\x70\x75\x71\x06\x4b\x02\x74\x71\x07\x51\x4b\x00\x4b\x02\x4b\x01\x86\x71\x08"
    "\x4b\x01\x4b\x01\x86\x71\x09\x89\x63\x63\x6f\x6c\x6c\x65\x63\x74\x69\x6f\x6e\x73\x0a\x4f\x72\x64"
    "\x65\x72\x65\x64\x44\x69\x63\x74\x0a\x71\x0a\x29\x52\x71\x0b\x74\x71\x0c\x52\x71\x0d\x58\x01\x00"
    "\x00\x00\x6e\x71\x0e\x4b\x03\x75\x2e",
    177);
const std::string kTorchStream(
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80\x02\x4d\xe9\x03\x2e\x80\x02\x7d"
    "\x71\x00\x28\x58\x10\x00\x00\x00\x70\x72\x6f\x74\x6f\x63\x6f\x6c\x5f\x76\x65\x72\x73\x69\x6f\x6e"
    "\x71\x01\x4d\xe9\x03\x58\x0d\x00\x00\x00\x6c\x69\x74\x74\x6c\x65\x5f\x65\x6e\x64\x69\x61\x6e\x71"
    "\x02\x88\x75\x2e\x80\x02\x7d\x71\x00\x28\x58\x01\x00\x00\x00\x77\x71\x01\x63\x74\x6f\x72\x63\x68"
    "\x2e\x5f\x75\x74\x69\x6c\x73\x0a\x5f\x72\x65\x62\x75\x69\x6c\x64\x5f\x74\x65\x6e\x73\x6f\x72\x5f"
    "\x76\x32\x0a\x71\x02\x28\x28\x58\x07\x00\x00\x00\x73\x74\x6f\x72\x61\x67\x65\x71\x03\x63\x74\x6f"
    "\x72\x63\x68\x0a\x46\x6c\x6f\x61\x74\x53\x74\x6f\x72\x61\x67\x65\x0a\x71\x04\x58\x01\x00\x00\x00"
    "\x30\x71\x05\x58\x03\x00\x00\x00\x63\x70\x75\x71\x06\x4b\x02\x4e\x74\x71\x07\x51\x4b\x00\x4b\x02"
    "\x4b\x01\x86\x71\x08\x4b\x01\x4b\x01\x86\x71\x09\x89\x63\x63\x6f\x6c\x6c\x65\x63\x74\x69\x6f\x6e"
    "\x73\x0a\x4f\x72\x64\x65\x72\x65\x64\x44\x69\x63\x74\x0a\x71\x0a\x29\x52\x71\x0b\x74\x71\x0c\x52"
    "\x71\x0d\x58\x01\x00\x00\x00\x6e\x71\x0e\x4b\x03\x75\x2e\x80\x02\x5d\x71\x00\x58\x01\x00\x00\x00"
    "\x30\x71\x01\x61\x2e\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40",
    285);

std::vector<Bytes> torch_archive_seeds() {
  const Bytes numbers = {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40};
  return {zip_file(
      {{"a/data.pkl", bytes_of(kTorchPickle)}, {"a/byteorder", bytes_of("little")}, {"a/data/0", numbers}})};
}

std::vector<Bytes> npz_weight_seeds() {
  const Bytes a = npy_file("<f2", "(2, 3)", Bytes(12, 60));
  const Bytes b = npy_file("<i8", "(2,)", Bytes(16, 0), true);
  return {zip_file({{"conv/W.npy", a, true}, {"b.npy", b}})};
}

std::vector<Bytes> caffe_seeds() {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("bn");
  layer->set_type("BatchNorm");
  for (int i = 0; i < 3; ++i) {
    caffe::BlobProto* blob = layer->add_blobs();
    blob->mutable_shape()->add_dim(i == 2 ? 1 : 2);
    for (int k = 0; k < (i == 2 ? 1 : 2); ++k) blob->add_data(1.5F);
  }
  caffe::LayerParameter* product = net.add_layer();
  product->set_name("fc");
  product->set_type("InnerProduct");
  product->mutable_inner_product_param()->set_transpose(true);
  product->add_blobs()->mutable_shape()->add_dim(2);
  product->mutable_blobs(0)->mutable_shape()->add_dim(1);
  product->mutable_blobs(0)->add_double_data(2);
  product->mutable_blobs(0)->add_double_data(3);
  caffe::NetParameter old;
  caffe::V1LayerParameter* first = old.add_layers();
  first->set_name("c");
  first->set_type(4);
  caffe::BlobProto* blob = first->add_blobs();
  blob->set_num(1);
  blob->set_channels(1);
  blob->set_height(1);
  blob->set_width(2);
  blob->add_data(1);
  blob->add_data(2);
  return texts({net.SerializeAsString(), old.SerializeAsString()});
}

void add_onnx_tensor(onnx::Tensor& tensor, const std::string& name, int type) {
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.add_dims(1);
  tensor.add_dims(2);
}

std::vector<Bytes> onnx_seeds() {
  onnx::Model model;
  model.set_producer_name("a");
  onnx::Graph& graph = *model.mutable_graph();
  onnx::Node& product = *graph.add_node();
  product.set_op_type("Gemm");
  for (const char* const input : {"x", "w", "b"}) product.add_input(input);
  product.add_output("y");
  onnx::Node& constant = *graph.add_node();
  constant.set_op_type("Constant");
  constant.add_output("c");
  onnx::Attribute& value = *constant.add_attribute();
  value.set_name("value");
  add_onnx_tensor(*value.mutable_t(), "", 1);
  value.mutable_t()->add_float_data(1);
  value.mutable_t()->add_float_data(2);
  add_onnx_tensor(*graph.add_initializer(), "w", 10);
  graph.mutable_initializer(0)->add_int32_data(0x3C00);
  graph.mutable_initializer(0)->add_int32_data(1);
  add_onnx_tensor(*graph.add_initializer(), "b", 11);
  graph.mutable_initializer(1)->set_raw_data(std::string(16, '\1'));
  return texts({model.SerializeAsString()});
}

/// Writes an attribute of texts, of fixed or variable length.
void write_texts(hid_t owner, const char* name, const std::vector<const char*>& values, size_t length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length == 0 ? H5T_VARIABLE : length);
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::string fixed;
  for (const char* const value : values)
    fixed += std::string(value) +
             std::string(length, '\0').substr(0, length - std::min(length, std::string_view(value).size()));
  H5Awrite(attribute, type, length == 0 ? static_cast<const void*>(values.data()) : fixed.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void write_numbers(hid_t file, const char* path, bool packed) {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const std::array<hsize_t, 2> sizes = {3, 5};
  const std::array<hsize_t, 2> chunk = {2, 2};
  const hid_t space = H5Screate_simple(2, sizes.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (packed) {
    H5Pset_chunk(creation, 2, chunk.data());
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 4);
  }
  const hid_t set = H5Dcreate2(file, path, H5T_IEEE_F32LE, space, links, creation, H5P_DEFAULT);
  const std::array<float, 15> numbers = {1, 2, 3};
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
  H5Pclose(links);
}

/// As Keras 2 or 3 writes it.
std::string keras_file(bool is_named, bool is_new) {
  const std::lock_guard lock(hdf5_mutex());
  const std::string path =
      std::filesystem::temp_directory_path() / ("tpack_fuzz_keras_" + std::to_string(::getpid()) + ".h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (is_new) H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  write_numbers(file, is_named ? "a/a/kernel:0" : "layers/dense/vars/0", is_named);
  const hid_t group = H5Gopen2(file, is_named ? "a" : "layers/dense/vars", H5P_DEFAULT);
  if (is_named) {
    write_texts(file, "layer_names", {"a"}, 1);
    write_texts(group, "weight_names", {"a/kernel:0"}, is_new ? 0 : 10);
  } else {
    write_texts(group, "name", {"fc"}, 0);
  }
  H5Gclose(group);
  H5Fclose(file);
  H5Pclose(access);
  std::string content = read_whole_file(path).value();
  std::filesystem::remove(path);
  return content;
}

std::vector<Bytes> hdf5_weight_seeds() {
  return texts({keras_file(true, false), keras_file(true, true), keras_file(false, false)});
}

std::vector<Bytes> keras_archive_seeds() {
  const std::string config =
      R"({"config": {"layers": [{"class_name": "Dense", "config": {"name": "fc", "layers": []}}]}})";
  return {zip_file({{"config.json", bytes_of(config), true},
                    {"model.weights.h5", bytes_of(keras_file(false, false)), true}})};
}

std::vector<Bytes> safetensors_seeds() {
  return texts({safetensors_of(R"({"__metadata__": {"format": "pt"},
      "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
      "b": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [8, 12]}})",
                               "12345678abcd")});
}

}  // namespace

std::vector<Parser> weight_parsers() {
  // libhdf5 asks for the memory that a damaged file declares.
  constexpr const char* kOfLibrary = "-max_len=16384 -malloc_limit_mb=-1";
  return {
      {"safetensors", parser_of(read_safetensors), safetensors_seeds},
      {"torch_archive", parse_torch_archive, torch_archive_seeds},
      {"torch_stream", parser_of(read_torch_stream), [] { return texts({kTorchStream}); }},
      {"npz_weights", parser_of(read_npz_weights), npz_weight_seeds},
      {"caffe_weights", parser_of(read_caffe_weights), caffe_seeds},
      {"onnx_weights", parser_of(read_onnx_weights), onnx_seeds},
      {"hdf5_weights", parser_of(read_hdf5_weights), hdf5_weight_seeds, kOfLibrary},
      {"keras_archive", parse_keras_archive, keras_archive_seeds, kOfLibrary},
      {"any_weights", parse_any_weights,
       [] {
         std::vector<Bytes> all = torch_archive_seeds();
         for (const auto& seeds : {npz_weight_seeds(), keras_archive_seeds(), hdf5_weight_seeds()})
           all.insert(all.end(), seeds.begin(), seeds.end());
         return all;
       },
       kOfLibrary},
  };
}

}  // namespace tpack::fuzz
