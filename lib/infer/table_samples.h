#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "infer/file_samples.h"

namespace tpack {

class RandomAccessSource;

/// The texts of columns, by their names.
using ColumnTexts = std::map<std::string, std::vector<std::string>>;

/// The requested columns of a source. Errors: ConfigError for a missing required column.
ColumnTexts texts_of(const RandomAccessSource& source, const WantedColumns& wanted);

/// Whether the source of the predict flow reads other files.
bool reads_tables(const InferenceModel& model);

/// Files for the source of the predict flow, a sample for each row. Errors: ConfigError.
std::unique_ptr<FileSamples> make_table_samples(const InferenceModel& model, const SampleRequest& request);

/// The first input that is an image; null if there is none.
const TowerInput* image_input(const std::vector<TowerInput>& inputs);
/// The picture file of a sample for an input; empty if `name` is its file.
Tensor picture_of(Datapoint& sample, const Spec& spec, const TowerInput& image, const std::string& name);

/// The input with the true values. Errors: ConfigError if the model has none.
const TowerInput& true_input(const InferenceModel& model);

}  // namespace tpack
