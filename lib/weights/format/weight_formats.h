#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "system/mapped_file.h"
#include "weights/weight_file.h"

// The readers of open_weight_file. Errors of each: DataError with the path.
namespace tpack {

using MappedFilePtr = std::shared_ptr<const MappedFile>;

/// Source: the format's description in the safetensors repository, version 0.4.
WeightFile read_safetensors(const MappedFilePtr& file, const std::string& path);
/// Writes all tensors, completely or not at all. Errors: ResourceError; those of the tensors.
void write_safetensors(const WeightFile& file, const std::string& path);
/// Arrays of numpy.savez.
WeightFile read_npz_weights(const MappedFilePtr& file, const std::string& path);
/// The zip archives of torch.save since 1.6, those of torch.jit.save too. Nothing for other archives.
std::optional<WeightFile> read_torch_archive(const MappedFilePtr& file, const std::string& path);
/// The stream of torch.save before 1.6.
WeightFile read_torch_stream(const MappedFilePtr& file, const std::string& path);
/// True for the first bytes of such a stream.
bool is_torch_stream(std::string_view first_bytes);
/// HDF5 files: of Keras, by layers in their order if they have it; of others, all datasets by their paths.
WeightFile read_hdf5_weights(const MappedFilePtr& file, const std::string& path);
bool is_hdf5(std::string_view first_bytes);
/// The zip archives of Keras (.keras).
bool is_keras_archive(const MappedFilePtr& file, const std::string& path);
WeightFile read_keras_archive(const MappedFilePtr& file, const std::string& path);
/// The networks of Caffe (.caffemodel), under the names that PyTorch would give: statistics of a BatchNorm
/// layer are divided by their factor.
WeightFile read_caffe_weights(const MappedFilePtr& file, const std::string& path);
/// The models of ONNX (.onnx), in the order in which their nodes use the tensors. Weights of products are
/// [outputs, inputs], as PyTorch has them. Data in other files are an error.
WeightFile read_onnx_weights(const MappedFilePtr& file, const std::string& path);

}  // namespace tpack
