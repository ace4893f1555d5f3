#pragma once

#include "core/registry.h"

namespace tpack::testing_config {

/// A kind of component for tests of the config: Nested has another component as a parameter.
struct Piece {
  static constexpr const char* kKind = "test piece";
  virtual ~Piece() = default;
};

/// The config of these tests: the same kinds of fields as a config of tpack, but fewer.
inline FieldType small_structure() {
  const FieldType layers = FieldType::list_of(FieldType::component("layer"));
  const FieldType flow =
      FieldType::section({{.name = "flow", .type = FieldType::list_of(FieldType::component("flow"))},
                          {.name = "workers", .type = FieldType::integer()}},
                         "a flow", "flow");
  const FieldType network = FieldType::section(
      {{.name = "inputs", .type = FieldType::list_of(FieldType::text())}, {.name = "layers", .type = layers}},
      "a network", "layers");
  const FieldType update =
      FieldType::section({{.name = "cost", .type = FieldType::text()},
                          {.name = "optimizer", .type = FieldType::component("optimizer")}},
                         "an update");
  const FieldType model = FieldType::section(
      {{.name = "layers", .type = layers.owning_names()},
       {.name = "defaults", .type = FieldType::map_of({}, "defaults").owning_names()},
       {.name = "blocks", .type = FieldType::map_of({}, "blocks").owning_names()},
       {.name = "networks", .type = FieldType::map_of(network, "networks").owning_names()},
       {.name = "cost", .type = FieldType::list_of(FieldType::component("cost"))},
       {.name = "costs",
        .type = FieldType::map_of(FieldType::list_of(FieldType::component("cost")), "costs")}},
      "a model");
  return FieldType::section(
      {{.name = "data", .type = FieldType::map_of(flow, "flows")},
       {.name = "model", .type = model},
       {.name = "optimizer", .type = FieldType::component("optimizer")},
       {.name = "updates", .type = FieldType::map_of(update, "updates")},
       {.name = "trainer", .type = FieldType::component("trainer")},
       {.name = "piece", .type = FieldType::component(Piece::kKind)},
       {.name = "pieces", .type = FieldType::list_of(FieldType::component(Piece::kKind))}},
      "a config");
}

}  // namespace tpack::testing_config
