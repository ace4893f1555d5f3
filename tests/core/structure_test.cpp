#include "core/structure.h"

#include <gtest/gtest.h>

#include "core/registry.h"

namespace tpack {
namespace {

using Base = FieldType::Base;

/// {items: [...], size: 3}, or the list alone.
FieldType settings() {
  return FieldType::section({{.name = "items", .type = FieldType::list_of(FieldType::number())},
                             {.name = "size", .type = FieldType::integer()}},
                            "settings", "items");
}

TEST(FormOf, is_the_field_that_a_value_stands_for) {
  EXPECT_EQ(form_of(settings(), ConfigNode::list({1.5})).base, Base::kList);
  EXPECT_EQ(form_of(settings(), ConfigNode::map({})).base, Base::kSection);
  const FieldType closed = FieldType::section({}, "no shorthand");
  EXPECT_EQ(form_of(closed, ConfigNode::list({})).base, Base::kSection);
}

TEST(FormOf, is_the_alternative_that_fits) {
  const FieldType type = FieldType::either(
      {FieldType::list_of(FieldType::number()), FieldType::reference("flow"), settings()}, "anything");
  EXPECT_EQ(form_of(type, ConfigNode::list({})).base, Base::kList);
  EXPECT_EQ(form_of(type, ConfigNode("train")).base, Base::kReference);
  EXPECT_EQ(form_of(type, ConfigNode::map({{"size", 3}})).base, Base::kSection);
  const FieldType lists = FieldType::either({FieldType::list_of(FieldType::number())}, "a list");
  EXPECT_EQ(form_of(lists, ConfigNode("x")).base, Base::kAny) << "none fits";
}

TEST(TypeBelow, follows_lists_maps_and_sections) {
  EXPECT_EQ(type_below(FieldType::list_of(FieldType::number()), "0").base, Base::kNumber);
  EXPECT_EQ(type_below(FieldType::map_of(FieldType::text(), "texts"), "any").base, Base::kText);
  EXPECT_EQ(type_below(settings(), "size").base, Base::kInteger);
  EXPECT_EQ(type_below(settings(), "nothing").base, Base::kAny);
  EXPECT_EQ(type_below(FieldType{}, "x").base, Base::kAny);
}

TEST(TypeBelow, knows_the_names_of_a_map_that_have_types_of_their_own) {
  const FieldType map = FieldType::map_of(FieldType::text(), "texts", {{.name = "size", .type = settings()}});
  EXPECT_EQ(type_below(map, "size").base, Base::kSection);
  EXPECT_EQ(type_below(map, "any").base, Base::kText);
  EXPECT_NE(field_named(map, "size"), nullptr);
  EXPECT_EQ(field_named(map, "any"), nullptr);
}

TEST(TypeBelow, keeps_that_a_list_owns_its_names) {
  EXPECT_TRUE(type_below(FieldType::list_of(FieldType::number()).owning_names(), "0").owns_names);
  EXPECT_TRUE(type_below(form_of(settings().owning_names(), ConfigNode::list({})), "0").owns_names);
  EXPECT_FALSE(type_below(settings(), "size").owns_names);
}

struct Figure {
  static constexpr const char* kKind = "test figure";
  virtual ~Figure() = default;
};
class Square final : public Figure {
 public:
  struct Params {
    int side = 1;
  };
  static Schema<Params> schema() {
    return Schema<Params>("A square.").field("side", &Params::side, "length");
  }
  explicit Square(Params) {}
};
TPACK_REGISTER(Figure, Square, "Square", "Quad");

TEST(TypeBelow, looks_up_the_parameters_of_a_component) {
  const FieldType one = FieldType::component(Figure::kKind);
  EXPECT_EQ(type_below(type_below(one, "Quad"), "side").base, Base::kInteger);
  EXPECT_EQ(type_below(one, "Circle").base, Base::kAny) << "a plugin may bring it";
  const FieldType several{
      .base = Base::kComponent, .of = "component", .choices = {"test nothing", Figure::kKind}};
  EXPECT_EQ(type_below(type_below(several, "Square"), "side").base, Base::kInteger);
}

TEST(ShorthandList, is_the_list_among_the_settings) {
  const ConfigNode written = ConfigNode::map({{"items", ConfigNode::list({2})}});
  ASSERT_NE(shorthand_list(settings(), written), nullptr);
  EXPECT_EQ(shorthand_list(settings(), written)->size(), 1U);
  EXPECT_EQ(shorthand_list(settings(), ConfigNode::map({{"items", "x"}})), nullptr);
  EXPECT_EQ(shorthand_list(FieldType{}, written), nullptr);
}

}  // namespace
}  // namespace tpack
