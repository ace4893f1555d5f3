#include "train/device_list.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "core/schema.h"
#include "support/errors.h"
#include "system/machine.h"

namespace tpack {
namespace {

struct Parsed {
  std::string error;
  std::vector<std::string> towers;
  ConfigNode dumped;
};

Parsed parse(const std::string& yaml) {
  Diagnostics errors;
  Reader reader("'devices' of trainer X", {}, errors);
  const auto devices = Codec<DeviceList>::parse(parse_yaml(yaml, "d.yaml"), reader);
  Parsed parsed;
  parsed.error = error_from([&] { errors.throw_if_any(); });
  if (!devices) return parsed;
  for (const Ref<DeviceName>& name : devices->towers()) parsed.towers.push_back(name.name);
  parsed.dumped = Codec<DeviceList>::dump(*devices);
  return parsed;
}

TEST(DeviceList, is_names_or_a_number_of_parts_or_one_for_each_memory_node) {
  EXPECT_EQ(parse("[cpu:1, cpu:0]").towers, (std::vector<std::string>{"cpu:1", "cpu:0"}));
  EXPECT_EQ(parse("3").towers, (std::vector<std::string>{"cpu:0", "cpu:1", "cpu:2"}));
  EXPECT_EQ(parse("~").towers.size(), own_memory_nodes());
  EXPECT_EQ(to_json(parse("2").dumped), R"(["cpu:0", "cpu:1"])");
  EXPECT_TRUE(parse("~").dumped.is_null());
}

TEST(DeviceList, says_what_is_wrong) {
  EXPECT_TRUE(says(parse("[0, 1]").error,
                   {"d.yaml:1:2:", "'devices' of trainer X:", "for 2 towers, write 2 instead"}));
  EXPECT_TRUE(says(parse("[cpu:0, cpu:0]").error, {"d.yaml:1:9:", "duplicate device 'cpu:0'", "one tower"}));
  EXPECT_TRUE(says(parse("[]").error, {"d.yaml:1:1:", "empty list", "name at least one device"}));
  for (const char* text : {"0", "all"}) EXPECT_TRUE(says(parse(text).error, {"d.yaml:1:1:"}));
}

}  // namespace
}  // namespace tpack
