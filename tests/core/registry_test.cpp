#include "core/registry.h"

#include <gtest/gtest.h>

#include "core/position_at.h"

namespace tpack {
namespace {

struct Animal {
  static constexpr const char* kKind = "test-animal";
  virtual ~Animal() = default;
  virtual std::string sound() const = 0;
};

struct Vehicle {
  static constexpr const char* kKind = "test-vehicle";
  virtual ~Vehicle() = default;
};

struct Broken {
  static constexpr const char* kKind = "test-broken";
  virtual ~Broken() = default;
};

struct DogParams {
  int barks = 1;
  int most = 10;
};

class Dog final : public Animal {
 public:
  using Params = DogParams;
  static Schema<Params> schema() {
    return Schema<Params>("Barks.")
        .field("barks", &Params::barks, at_least(1), "how often")
        .field("most", &Params::most, "limit");
  }
  explicit Dog(Params p) : p_(p) {
    if (p.barks > p.most) throw ConfigError("'barks' is above 'most'");
  }
  std::string sound() const override {
    std::string all;
    for (int i = 0; i < p_.barks; ++i) all += "wuff";
    return all;
  }

 private:
  Params p_;
};

struct FlockParams {
  Part<Animal> leader;
};

class Flock final : public Animal {
 public:
  using Params = FlockParams;
  static Schema<Params> schema() {
    return Schema<Params>("Follows.").field("leader", &Params::leader, "who begins");
  }
  explicit Flock(Params p) : p_(std::move(p)) {}
  std::string sound() const override { return p_.leader ? p_.leader->sound() : ""; }

 private:
  Params p_;
};

class Car final : public Vehicle {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Drives."); }
  explicit Car(Params /*p*/) {}
};

TPACK_REGISTER(Animal, Dog, "Dog", "Hound", Variant{"Puppy", "barks", "3"});
TPACK_REGISTER(Animal, Flock, "Flock");
TPACK_REGISTER(Vehicle, Car, "Car");

std::string item_complaint(const ConfigNode& item) {
  try {
    Registry<Animal>::make_item(item);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, a_variant_has_a_default_of_its_own) {
  EXPECT_EQ(Registry<Animal>::make("Puppy")->sound(), "wuffwuffwuff");
  EXPECT_EQ(Registry<Animal>::make("Puppy", {{"most", 20}})->sound(), "wuffwuffwuff");
  EXPECT_EQ(Registry<Animal>::make("Puppy", {{"barks", 2}})->sound(), "wuffwuff");
  EXPECT_EQ(Registry<Animal>::make("Dog")->sound(), "wuff");
  const ConfigNode written = effective_item(Animal::kKind, ConfigNode("Puppy"));
  EXPECT_TRUE(written.same_value(ConfigNode{{"Dog", ConfigNode{{"barks", 3}, {"most", 10}}}}));
}

TEST(Registry, makes_a_component_by_name_and_by_alias) {
  EXPECT_EQ(Registry<Animal>::make("Dog", {{"barks", 2}})->sound(), "wuffwuff");
  EXPECT_EQ(Registry<Animal>::make_item(ConfigNode("Hound"))->sound(), "wuff");
}

TEST(Registry, suggests_the_nearest_name) {
  EXPECT_EQ(item_complaint(ConfigNode::string("dogg", at(3, 5))),
            "a.yaml:3:5: unknown test-animal 'dogg'; did you mean 'Dog'?");
  EXPECT_EQ(item_complaint(ConfigNode::string("Zebra", at(3, 5))),
            "a.yaml:3:5: unknown test-animal 'Zebra'; known: Dog (Barks), Flock (Follows)");
}

TEST(Registry, says_that_a_name_belongs_to_another_kind) {
  EXPECT_EQ(item_complaint(ConfigNode::string("Car", at(3, 5))),
            "a.yaml:3:5: unknown test-animal 'Car'; 'Car' is a test-vehicle");
}

TEST(Registry, gives_a_condition_across_fields_the_place_of_the_component) {
  const ConfigNode params = ConfigNode::map({{"barks", 11}}, at(4, 7));
  EXPECT_EQ(item_complaint(ConfigNode::map({{"Dog", params, at(4, 2)}}, at(4, 2))),
            "a.yaml:4:7: 'barks' is above 'most'");
}

TEST(Registry, makes_nothing_once_fifty_mistakes_are_listed) {
  Diagnostics errors;
  for (int i = 1; i <= 60; ++i) errors.add(at(i, 1), "wrong");
  EXPECT_EQ(Registry<Animal>::make({{"Dog", {{"barks", 0}}}}, errors), nullptr);
  EXPECT_NE(Registry<Animal>::make({{"Dog", {{"barks", 3}}}}, errors), nullptr);
}

TEST(Registry, makes_nested_parts_and_writes_their_defaults_back) {
  const ConfigNode item{{"Flock", {{"leader", {{"Dog", {{"barks", 2}}}}}}}};
  EXPECT_EQ(Registry<Animal>::make_item(item)->sound(), "wuffwuff");
  EXPECT_EQ(to_json(effective_item("test-animal", item)),
            R"({"Flock": {"leader": {"Dog": {"barks": 2, "most": 10}}}})");
  EXPECT_EQ(item_complaint({{"Flock", {{"leader", ConfigNode::string("Dgo", at(2, 2))}}}}),
            "a.yaml:2:2: unknown test-animal 'Dgo'; did you mean 'Dog'?");
}

TEST(Registry, lists_components_by_name) {
  const auto all = Registry<Animal>::table().list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->name, "Dog");
  EXPECT_EQ(all[0]->aliases, (std::vector<std::string>{"Hound", "Puppy"}));
  EXPECT_EQ(all[0]->summary(), "Barks.");
  EXPECT_EQ(all[0]->fields().size(), 2U);
}

TEST(Registry, reports_a_name_registered_twice_with_both_files) {
  ComponentTable& table = ComponentTable::of(Broken::kKind);
  table.add({.kind = Broken::kKind, .name = "A", .aliases = {"B"}, .file = "first.cpp"});
  EXPECT_NE(table.find("A"), nullptr);
  table.add({.kind = Broken::kKind, .name = "B", .aliases = {}, .file = "second.cpp"});
  try {
    table.find("A");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "test-broken 'B' is registered twice: in first.cpp and in second.cpp");
  }
}

}  // namespace
}  // namespace tpack
