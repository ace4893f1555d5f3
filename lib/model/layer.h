#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/registry.h"
#include "graph/builder.h"

namespace tpack {

class LayerParser;
class NetworkBuilder;

/// A function that emits ops: one item of a `layers` list. Variables are declared in the current scope, which
/// has the layer's name. Threads: const methods may run at once.
class Layer {
 public:
  static constexpr const char* kKind = "layer";
  virtual ~Layer() = default;

  /// Emits the layer on one input. Layers override this method, or one of the two below.
  virtual Symbol build(Builder& b, Symbol x) const;
  /// On several inputs (`input: [a, b]`). Errors: ShapeError for a layer with one input.
  virtual Symbol build(Builder& b, std::span<const Symbol> in) const;

  /// For layers that contain layers: reads the nested lists (the parser handles names, errors and block
  /// parameters).
  virtual void parse_nested(LayerParser& parser) { (void)parser; }
  /// Emits a layer that contains layers, or has additional outputs (NetworkBuilder::add_value).
  virtual Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const;
  /// False for a layer that only has named outputs: `halves.0`.
  virtual bool has_main_value() const { return true; }
};

/// A nested list of layers as a field of a layer; read by parse_nested.
struct LayerListField {
  ConfigNode list;
};

template <>
struct Codec<LayerListField> {
  static FieldType type() { return FieldType::list_of(FieldType::component(Layer::kKind)); }
  static std::optional<LayerListField> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_list()) {
      reader.wrong_type(node, "a list of layers");
      return std::nullopt;
    }
    return LayerListField{node};
  }
  static ConfigNode dump(const LayerListField& field) {
    return field.list.is_list() ? field.list : ConfigNode::list({});
  }
};

/// A layer with the common settings of its item in the list.
struct ParsedLayer {
  std::unique_ptr<Layer> layer;
  std::string name;                      // unique in its list
  std::vector<Ref<LayerOutput>> inputs;  // empty: the previous output
  Position position;
};
using ParsedList = std::vector<ParsedLayer>;

}  // namespace tpack
