#include "config/zoo.h"

#include "config/yaml_reader.h"
#include "config/zoo_texts.h"  // made by CMake

namespace tpack {
namespace {

const char* embedded_text(const std::string& file) {
  for (const char* const* text = kZooTexts; *text != nullptr; text += 2)
    if (text[0] == file) return text[1];
  return nullptr;
}

}  // namespace

const std::vector<ZooNetwork>& zoo_networks() {
  static const std::vector<ZooNetwork> kAll = [] {
    std::vector<ZooNetwork> all;
    const ConfigNode table = parse_yaml(embedded_text("zoo.yaml"), "zoo.yaml");
    for (const ConfigNode::Entry& row : table.entries()) {
      ZooNetwork network{.name = row.key,
                         .page = row.value.find("page")->text(),
                         .parameters = row.value.find("parameters")->as_int(),
                         .gmacs = row.value.find("gmacs")->as_double(),
                         .top1 = row.value.find("top1")->as_double()};
      if (const ConfigNode* const vars = row.value.find("vars")) network.vars = *vars;
      if (const ConfigNode* const source = row.value.find("source")) network.source = source->text();
      all.push_back(std::move(network));
    }
    return all;
  }();
  return kAll;
}

const char* zoo_page(std::string_view page) { return embedded_text(std::string(page) + ".yaml"); }

}  // namespace tpack
