#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"

namespace tpack {

/// A published network that `include: zoo:NAME` brings: a row of models/zoo.yaml.
struct ZooNetwork {
  std::string name;
  std::string page;                       // a file of models/zoo, without .yaml
  ConfigNode vars = ConfigNode::map({});  // of the page
  int64_t parameters = 0;                 // trained ones
  double gmacs = 0;                       // 10^9 multiplications and additions of an image
  double top1 = 0;                        // published accuracy on ImageNet, %
  std::string source = "torchvision";     // who publishes it: "timm resnet50d.gluon_in1k"
};

/// All networks, by family.
const std::vector<ZooNetwork>& zoo_networks();
/// The text of a page (a file of models/zoo, without .yaml). Null if there is none.
const char* zoo_page(std::string_view page);

}  // namespace tpack
