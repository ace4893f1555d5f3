#pragma once

namespace tpack {

/// The part of this type of an object that derives from its parts (a trainer, a source); an empty part if the
/// object does not have it. `Whole`: const for a const part.
template <class Part, class Whole>
Part& part_of(Whole& whole) {
  static Part nothing{};
  auto* own = dynamic_cast<Part*>(&whole);
  return own != nullptr ? *own : nothing;
}

}  // namespace tpack
