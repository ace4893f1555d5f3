#include "ops/window.h"

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace tpack {
namespace {

int64_t extent(int64_t size, int64_t dilation) { return (size - 1) * dilation + 1; }

int64_t output_size(int64_t in, int64_t padding, int64_t size, int64_t dilation, int64_t stride) {
  return (in + padding - extent(size, dilation)) / stride + 1;
}

std::string text(Size2 size) { return std::to_string(size.h) + "x" + std::to_string(size.w); }

}  // namespace

Size2 Window::output(Size2 in) const {
  const int64_t h = in.h + padding.top + padding.bottom;
  const int64_t w = in.w + padding.left + padding.right;
  if (h < extent(size.h, dilation.h) || w < extent(size.w, dilation.w)) {
    throw ShapeError("a window of " + text({extent(size.h, dilation.h), extent(size.w, dilation.w)}) +
                     " does not fit into " + text(in) + "; use `padding: same` or a smaller window");
  }
  return {output_size(in.h, padding.top + padding.bottom, size.h, dilation.h, stride.h),
          output_size(in.w, padding.left + padding.right, size.w, dilation.w, stride.w)};
}

Padding2 padding_for(const PaddingSetting& setting, Size2 in, Size2 size, Size2 stride, Size2 dilation) {
  if (setting.sides) return *setting.sides;
  if (setting.rule == PaddingRule::kValid) return {};
  const auto total = [](int64_t n, int64_t k, int64_t s, int64_t d) {
    const int64_t out = (n + s - 1) / s;
    return std::max<int64_t>(0, (out - 1) * s + extent(k, d) - n);
  };
  const int64_t h = total(in.h, size.h, stride.h, dilation.h);
  const int64_t w = total(in.w, size.w, stride.w, dilation.w);
  return {h / 2, w / 2, h - h / 2, w - w / 2};
}

std::optional<Size2> Codec<Size2>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_list()) {
    if (node.kind() != ConfigNode::Kind::kInt) {
      reader.wrong_type(node, type().str());
      return std::nullopt;
    }
    const auto both = Codec<int64_t>::parse(node, reader);
    return both ? std::optional(Size2{*both, *both}) : std::nullopt;
  }
  const auto pair = Codec<std::pair<int64_t, int64_t>>::parse(node, reader);
  return pair ? std::optional(Size2{pair->first, pair->second}) : std::nullopt;
}

ConfigNode Codec<Size2>::dump(const Size2& size) {
  if (size.h == size.w) return size.h;
  return ConfigNode::list({size.h, size.w});
}

std::string padding_doc(const std::string& rules) {
  return rules +
         "; or the padding on each side: a number (1 is PyTorch's padding=1), [height, width], or [[top, "
         "bottom], [left, right]]. 'same' follows TensorFlow: if the total is odd, the bottom and right get "
         "one more, so a window of 3 with stride 2 on an even size has no padding at the top and left";
}

FieldType Codec<PaddingSetting>::type() {
  const FieldType pair = FieldType::list_of(FieldType::integer());
  return FieldType::either({Codec<PaddingRule>::type(), FieldType::integer(), pair, FieldType::list_of(pair)},
                           "same, valid, a number, a list [height, width] or a list [[top, bottom], [left, "
                           "right]]");
}

std::optional<PaddingSetting> Codec<PaddingSetting>::parse(const ConfigNode& node, Reader& reader) {
  using Pair = std::pair<int64_t, int64_t>;
  Reader sizes(reader.what(), at_least(0), reader.errors());
  if (node.is_string()) {
    const auto rule = Codec<PaddingRule>::parse(node, reader);
    return rule ? std::optional(PaddingSetting(*rule)) : std::nullopt;
  }
  const bool is_pair = node.is_list() && node.size() == 2;
  if (is_pair && node.items()[0].is_list() && node.items()[1].is_list()) {
    const auto rows = Codec<Pair>::parse(node.items()[0], sizes);
    const auto columns = Codec<Pair>::parse(node.items()[1], sizes);
    if (!rows || !columns) return std::nullopt;
    return PaddingSetting(Padding2{rows->first, columns->first, rows->second, columns->second});
  }
  if (!is_pair && node.kind() != ConfigNode::Kind::kInt) {
    reader.wrong_type(node, type().str());
    return std::nullopt;
  }
  const auto both = Codec<Size2>::parse(node, sizes);
  return both ? std::optional(PaddingSetting(Padding2{both->h, both->w, both->h, both->w})) : std::nullopt;
}

ConfigNode Codec<PaddingSetting>::dump(const PaddingSetting& setting) {
  if (!setting.sides) return Codec<PaddingRule>::dump(setting.rule);
  const Padding2& p = *setting.sides;
  if (p.top == p.bottom && p.left == p.right) return Codec<Size2>::dump({p.top, p.left});
  return ConfigNode::list({ConfigNode::list({p.top, p.bottom}), ConfigNode::list({p.left, p.right})});
}

std::optional<Padding2> Codec<Padding2>::parse(const ConfigNode& node, Reader& reader) {
  const auto sides = Codec<std::vector<int64_t>>::parse(node, reader);
  if (!sides) return std::nullopt;
  if (sides->size() != 4) {
    reader.wrong_type(node, type().str());
    return std::nullopt;
  }
  return Padding2{(*sides)[0], (*sides)[1], (*sides)[2], (*sides)[3]};
}

ConfigNode Codec<Padding2>::dump(const Padding2& p) {
  return ConfigNode::list({p.top, p.left, p.bottom, p.right});
}

}  // namespace tpack
