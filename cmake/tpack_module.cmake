# tpack_module(NAME SOURCES ... [DEPENDS ...] [LINKS ...] [APART])
# One folder of lib/ as the object library tpack_NAME (alias tpack::NAME). DEPENDS: modules of ours; LINKS: libraries. APART: its sources
# have private names that clash, so TPACK_UNITY leaves them one by one.
# All modules end in the one shared library libtpack, so that no registration is dropped by the linker and a plugin
# and the executable share one registry.

add_library(tpack_options INTERFACE)
target_compile_features(tpack_options INTERFACE cxx_std_20)
target_include_directories(tpack_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/lib>)
target_compile_options(tpack_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                       -Wold-style-cast -Wno-missing-field-initializers $<$<BOOL:${TPACK_WERROR}>:-Werror> -ffp-contract=off)
# Gradients and resume are compared bit by bit: no contraction that depends on the optimiser's mood. Kernels that
# want FMA ask for it by name.
target_compile_options(tpack_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-O3 -g1>)
# Datapoints hold images, so whoever reads data sees OpenCV's headers.
target_link_libraries(tpack_options INTERFACE opencv)
# At -O3 these of GCC 12 warn of its own inlined std::string and std::optional.
target_compile_options(tpack_options INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:RelWithDebInfo>>:-Wno-stringop-overflow;-Wno-maybe-uninitialized;-Wno-restrict;-Wno-array-bounds>)
if(TPACK_SANITIZE)
  target_compile_options(tpack_options INTERFACE -fsanitize=${TPACK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TPACK_SANITIZE})  # for every program: the sanitizer's runtime belongs to it
endif()

set_property(GLOBAL PROPERTY TPACK_MODULES "")
function(tpack_module name)
  cmake_parse_arguments(ARG "APART" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  add_library(tpack_${name} OBJECT ${ARG_SOURCES})
  add_library(tpack::${name} ALIAS tpack_${name})
  set_target_properties(tpack_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(TPACK_UNITY AND NOT ARG_APART)
    set_target_properties(tpack_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  target_link_libraries(tpack_${name} PUBLIC tpack_options PRIVATE ${ARG_LINKS} Threads::Threads)
  foreach(module ${ARG_DEPENDS})
    if(NOT TARGET tpack_${module})
      message(FATAL_ERROR "module ${name} depends on ${module}, which comes later: see docs/architecture.md")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TPACK_MODULES tpack_${name})
  set_property(GLOBAL APPEND PROPERTY TPACK_LINKS ${ARG_LINKS})
endfunction()
