// docs/layers.md: every public name of tensorpack.models, with ours or the reason why there is none.
#include <gmock/gmock-matchers.h>

#include "core/text.h"
#include "model/cost.h"
#include "model/layer.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

// Those of tensorpack 0.11, and what versions before it had.
const std::vector<std::string> kNamesOfModels = split(
    "BatchNorm BatchRenorm ConcatWith Conv2D Conv2DTranspose Deconv2D Dropout FixedUnPooling FullyConnected "
    "GlobalAvgPooling ImageSample InstanceNorm LayerNorm LeakyReLU LinearWrap MaxPooling AvgPooling Maxout "
    "PReLU BNReLU SoftMax BilinearUpSample regularize_cost regularize_cost_from_collection l1_regularizer "
    "l2_regularizer layer_register get_registered_layer argscope get_arg_scope enable_argscope_for_module "
    "disable_layer_logging VariableHolder rename_tflayer_get_variable convert_to_tflayer_args",
    ' ');

struct NameRow {
  std::string theirs;
  std::string kind;
  std::vector<std::string> ours;
  std::string notes;
};

std::vector<NameRow> rows_of_names() {
  std::vector<NameRow> rows;
  for (const std::string& line : split(content_of(source_folder() + "/docs/layers.md"), '\n')) {
    std::vector<std::string> cells;
    for (const std::string& cell : split(line, '|')) cells.emplace_back(trim(cell));
    if (cells.size() != 6 || cells[1] == "tensorpack" || cells[1].starts_with("---")) continue;
    NameRow row{cells[1], cells[2], {}, cells[4]};
    if (!cells[3].empty()) {
      for (const std::string& name : split(cells[3], ',')) {
        const std::string quoted(trim(name));
        EXPECT_TRUE(quoted.size() > 2 && quoted.front() == '`' && quoted.back() == '`') << line;
        row.ours.push_back(quoted.substr(1, quoted.size() - 2));
      }
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(LayerList, has_every_name_of_tensorpack) {
  std::vector<std::string> names;
  for (const NameRow& row : rows_of_names()) names.push_back(row.theirs);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(kNamesOfModels))
      << "the first column of docs/layers.md";
}

TEST(LayerList, has_our_registered_name_or_a_reason) {
  for (const NameRow& row : rows_of_names()) {
    SCOPED_TRACE(row.theirs);
    EXPECT_TRUE(row.kind == "layer" || row.kind == "cost" || row.kind == "function") << row.kind;
    EXPECT_TRUE(!row.ours.empty() || !row.notes.empty())
        << "needs one of our names, or a reason in the notes";
    for (const std::string& name : row.ours) {
      const ComponentTable& table = row.kind == "cost" ? Registry<Cost>::table() : Registry<Layer>::table();
      const ComponentInfo* info = table.find(name);
      ASSERT_NE(info, nullptr) << "no " << table.kind() << " '" << name << "' is registered";
      EXPECT_EQ(info->name, name) << "is an alias";
    }
  }
}

TEST(LayerList, keeps_the_names_of_tensorpack) {
  for (const NameRow& row : rows_of_names()) {
    const ComponentInfo* info = Registry<Layer>::table().find(row.theirs);
    if (info == nullptr) continue;
    EXPECT_EQ(row.ours, std::vector{info->name}) << row.theirs << " is also the name of a layer here";
  }
}

}  // namespace
}  // namespace tpack
