#include "cpu/sweep/sweep_plan.h"

#include <algorithm>
#include <functional>

namespace tpack::cpu {
namespace {

bool is_vector(const Shape& shape) {
  return std::count_if(shape.sizes().begin(), shape.sizes().end(), [](int64_t size) { return size != 1; }) <=
         1;
}

/// One axis of the walk: which axis of the sweep's shape it covers, and which part of it.
struct Axis {
  enum class Part : uint8_t { kWhole, kBlocks, kLanes };
  int logical;
  Part part;
  int64_t size;
};

std::vector<Axis> axes_in_memory(const Shape& shape, Layout layout) {
  using Part = Axis::Part;
  const auto whole = [&](int i) { return Axis{i, Part::kWhole, shape[i]}; };
  if (shape.rank() == 4 && layout == Layout::kNhwc) return {whole(0), whole(2), whole(3), whole(1)};
  if (shape.rank() == 4 && layout == Layout::kBlocked) {
    return {whole(0),
            {1, Part::kBlocks, padded_channels(shape, layout) / kBlockChannels},
            whole(2),
            whole(3),
            {1, Part::kLanes, kBlockChannels}};
  }
  std::vector<Axis> axes;
  for (int i = 0; i < static_cast<int>(shape.rank()); ++i) axes.push_back(whole(i));
  return axes;
}

/// Row-major steps of an operand's own axes in memory, by walk axis; `padded` if its channels are in full
/// blocks.
Steps steps_of(const Shape& operand, Layout layout, bool is_image, const Shape& space,
               const std::vector<Axis>& walk) {
  const int extra = static_cast<int>(space.rank() - operand.rank());
  const auto operand_size = [&](int logical) {
    return logical < extra ? int64_t{1} : operand[logical - extra];
  };
  std::array<int64_t, Shape::kMaxRank> logical_steps{};
  Steps steps{};
  if (is_image) {
    // In the walk's own order, over the operand's sizes.
    int64_t step = 1;
    for (size_t i = walk.size(); i-- > 0;) {
      const int64_t size = operand_size(walk[i].logical);
      const bool constant = size == 1 && walk[i].part == Axis::Part::kWhole;
      steps[i] = constant ? 0 : step;
      const Shape padded = operand.with(1, padded_channels(operand, layout));
      if (walk[i].part == Axis::Part::kLanes) step *= kBlockChannels;
      if (walk[i].part == Axis::Part::kBlocks) step *= padded[1] / kBlockChannels;
      if (walk[i].part == Axis::Part::kWhole) step *= size;
    }
    return steps;
  }
  int64_t step = 1;
  for (int i = static_cast<int>(operand.rank()) - 1; i >= 0; --i) {
    const int axis = i + extra;
    logical_steps[static_cast<size_t>(axis)] = operand[i] == 1 ? 0 : step;
    step *= operand[i];
  }
  for (size_t i = 0; i < walk.size(); ++i) {
    const int64_t own = logical_steps[static_cast<size_t>(walk[i].logical)];
    steps[i] = walk[i].part == Axis::Part::kBlocks ? own * kBlockChannels : own;
  }
  return steps;
}

/// True if axis i + 1 can be counted as part of axis i for an operand.
bool joins(const Steps& steps, size_t i, int64_t inner_size) { return steps[i] == steps[i + 1] * inner_size; }

void erase_axis(SweepPlan& plan, size_t at) {
  plan.sizes.erase(plan.sizes.begin() + static_cast<std::ptrdiff_t>(at));
  const auto shift = [&](Steps& steps) {
    std::copy(steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, steps.end(),
              steps.begin() + static_cast<std::ptrdiff_t>(at));
  };
  std::for_each(plan.inputs.begin(), plan.inputs.end(), shift);
  std::for_each(plan.reductions.begin(), plan.reductions.end(), shift);
  if (plan.padded_axis > static_cast<int>(at)) --plan.padded_axis;
}

void merge_axes(SweepPlan& plan) {
  for (size_t i = plan.sizes.size() - 1; i-- > 0;) {
    const bool padding_between =
        plan.padded_axis == static_cast<int>(i) || plan.padded_axis == static_cast<int>(i) + 1;
    // Lanes stay an axis of their own if some of them are padding.
    const bool lanes = plan.padded_axis >= 0 && i + 2 == plan.sizes.size();
    if (padding_between || lanes) continue;
    const auto joined = [&](const Steps& steps) { return joins(steps, i, plan.sizes[i + 1]); };
    const bool all = std::all_of(plan.inputs.begin(), plan.inputs.end(), joined) &&
                     std::all_of(plan.reductions.begin(), plan.reductions.end(), joined);
    if (!all) continue;
    plan.sizes[i + 1] *= plan.sizes[i];
    erase_axis(plan, i);
  }
}

void drop_ones(SweepPlan& plan) {
  for (size_t i = plan.sizes.size(); i-- > 0;) {
    if (plan.sizes[i] == 1 && plan.sizes.size() > 1 && plan.padded_axis != static_cast<int>(i))
      erase_axis(plan, i);
  }
}

}  // namespace

int64_t SweepPlan::outer() const {
  int64_t product = 1;
  for (size_t i = 0; i + 2 < sizes.size(); ++i) product *= sizes[i];
  return product;
}

void SweepPlan::cut(int64_t elements) {
  if (columns() >= elements) {
    tile_rows = 1;
    tile_columns = std::min(columns(), (elements + 15) / 16 * 16);
  } else {
    tile_rows = std::clamp<int64_t>(elements / columns(), 1, rows());
    tile_columns = columns();
  }
}

SweepTile SweepPlan::tile(int64_t index) const {
  const int64_t each = row_tiles() * column_tiles();
  SweepTile tile;
  tile.outer = index / each;
  tile.row = index % each / column_tiles() * tile_rows;
  tile.rows = std::min(tile_rows, rows() - tile.row);
  tile.column = index % column_tiles() * tile_columns;
  tile.columns = std::min(tile_columns, columns() - tile.column);
  return tile;
}

int64_t SweepPlan::offset(const Steps& steps, const SweepTile& tile) const {
  const size_t last = sizes.size() - 1;
  int64_t at = tile.row * steps[last - 1] + tile.column * steps[last];
  int64_t rest = tile.outer;
  for (size_t axis = last - 1; axis-- > 0;) {
    at += rest % sizes[axis] * steps[axis];
    rest /= sizes[axis];
  }
  return at;
}

bool SweepPlan::in_padding(const SweepTile& tile) const {
  if (padded_axis < 0) return false;
  int64_t rest = tile.outer;
  for (size_t axis = sizes.size() - 2; axis-- > 0;) {
    if (static_cast<int>(axis) == padded_axis) return rest % sizes[axis] == padded_step;
    rest /= sizes[axis];
  }
  return padded_axis == static_cast<int>(sizes.size()) - 2 && tile.row + tile.rows > padded_step;
}

Format sweep_format(const TensorSpec& spec, Layout layout) {
  return make_format(spec, is_vector(spec.shape) ? Layout::kPlain : layout);
}

bool fits_blocks(const Sweep& sweep, const Node& node) {
  const int64_t channels = sweep.shape()[1];
  const auto fits = [&](const Shape& s) { return is_vector(s) || (s.rank() == 4 && s[1] == channels); };
  const bool inputs = std::all_of(node.inputs.begin(), node.inputs.end(),
                                  [&](const Symbol& input) { return fits(input.shape()); });
  const bool outputs = std::all_of(node.outputs.begin(), node.outputs.end(),
                                   [&](const TensorSpec& output) { return fits(output.shape); });
  const bool maxima =
      std::any_of(sweep.reductions().begin(), sweep.reductions().end(), [&](const SweepReduction& reduction) {
        const auto& axes = reduction.axes;
        return reduction.kind == Reduction::kMax && std::find(axes.begin(), axes.end(), 1) != axes.end();
      });
  return inputs && outputs && !(maxima && channels % kBlockChannels != 0);
}

SweepPlan plan_sweep(const Sweep& sweep, const Node& node, Layout layout) {
  const Shape& space = sweep.shape();
  if (space.rank() != 4) layout = Layout::kPlain;
  const std::vector<Axis> walk = axes_in_memory(space, layout);
  SweepPlan plan;
  for (const Axis& axis : walk) plan.sizes.push_back(axis.size);
  if (plan.sizes.empty()) plan.sizes = {1};  // a scalar
  const bool padded = layout == Layout::kBlocked && space[1] % kBlockChannels != 0;
  for (const Symbol& input : node.inputs) {
    const Shape& shape = input.shape();
    const bool is_image = shape.rank() == 4 && layout != Layout::kPlain && !is_vector(shape);
    plan.inputs.push_back(steps_of(shape, layout, is_image, space, walk));
    plan.input_copy.push_back(padded && !is_image && plan.inputs.back()[4] == 1 ? space[1] : 0);
  }
  for (size_t i = 0; i < sweep.reductions().size(); ++i) {
    const Shape& shape = node.outputs[sweep.expression().results.size() + i].shape;
    const bool is_image = shape.rank() == 4 && layout != Layout::kPlain && !is_vector(shape);
    plan.reductions.push_back(steps_of(shape, layout, is_image, space, walk));
  }
  if (padded) {
    plan.padded_lanes = space[1] % kBlockChannels;
    plan.padded_axis = 1;
    plan.padded_step = walk[1].size - 1;
  }
  drop_ones(plan);
  merge_axes(plan);
  while (plan.sizes.size() < 2) {
    plan.sizes.insert(plan.sizes.begin(), 1);
    const auto shift = [](Steps& steps) {
      std::copy_backward(steps.begin(), steps.end() - 1, steps.end());
      steps[0] = 0;
    };
    std::for_each(plan.inputs.begin(), plan.inputs.end(), shift);
    std::for_each(plan.reductions.begin(), plan.reductions.end(), shift);
  }
  return plan;
}

}  // namespace tpack::cpu
