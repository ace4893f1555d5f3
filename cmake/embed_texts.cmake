# tpack_embed_texts(TARGET HEADER NAME FILE ...): a header for TARGET with `NAME`, an array of the files' names and texts up to a null.
function(tpack_embed_texts target header name)
  set(texts "")
  foreach(file ${ARGN})
    get_filename_component(key ${file} NAME)
    file(READ ${file} text)
    string(APPEND texts "    \"${key}\", R\"~~(${text})~~\",\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} @ONLY CONTENT "#pragma once

namespace tpack {

inline constexpr const char* @name@[] = {
@texts@    nullptr};

}  // namespace tpack
")
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()
