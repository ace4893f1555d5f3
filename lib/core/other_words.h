#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tpack {

/// Words of other tools (Keras, PyTorch, Lightning, timm, Caffe, Ultralytics), and how the same is said here.
/// For words that look like ours, `did_you_mean` is enough.
struct OtherWords {
  /// Where they are written, joined by '|': a kind of component ("layer"), for the name of a component; the
  /// owner of keys ("layer Conv2D", "the config"), or "any layer", for keys.
  std::string_view places;
  std::string_view words;   // joined by spaces; letter case, '_' and '-' do not count
  std::string_view advice;  // never another key or component that is accepted but means something else
  /// Sections of a config that follow the advice, one per line. Tests check that they are accepted.
  std::string_view example;
};

/// In the order in which they are looked up.
std::span<const OtherWords> other_words();

/// "; use the optimizer Momentum", for a word that is unknown at this place; "" if the table has none.
std::string advice_on(std::string_view place, std::string_view word);

}  // namespace tpack
