#pragma once

namespace tpack {

/// Base of a class whose objects may have parts: further base classes that others ask for by type.
template <class Whole>
class HasParts {
 public:
  /// The part of this type; an empty one if the object does not derive from it.
  template <class Part>
  Part& part() {
    return part_of<Part>(static_cast<Whole&>(*this));
  }
  template <class Part>
  const Part& part() const {
    return part_of<const Part>(static_cast<const Whole&>(*this));
  }

 private:
  template <class Part, class Object>
  static Part& part_of(Object& object) {
    static Part nothing{};  // NOLINT(readability-identifier-naming): constant for some parts only
    auto* own = dynamic_cast<Part*>(&object);
    return own != nullptr ? *own : nothing;
  }
};

}  // namespace tpack
