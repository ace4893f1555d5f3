# tpack_module(NAME SOURCES ... [DEPENDS ...] [LINKS ...] [APART SOURCE ...] [HOT | COLD])
# One folder of lib/ as the object library tpack_NAME (alias tpack::NAME). DEPENDS: other modules; LINKS: libraries. APART: sources that
# TPACK_UNITY compiles one by one. HOT: where training spends its time, so compiled at -O3;
# COLD: what runs once, so at -O1, which compiles faster.
# Each module ends in one of the shared libraries of lib/CMakeLists.txt, so that no registration is dropped by the linker and a
# plugin and the executable share one registry.

add_library(tpack_options INTERFACE)
target_compile_features(tpack_options INTERFACE cxx_std_20)
target_include_directories(tpack_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/lib>)
target_compile_options(tpack_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                       -Wold-style-cast -Wno-missing-field-initializers $<$<BOOL:${TPACK_WERROR}>:-Werror> -ffp-contract=off)
# Gradients and resume are compared bit by bit: no contraction that depends on the optimizer's choice. Kernels that
# want FMA ask for it by name.
target_compile_options(tpack_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)
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
  cmake_parse_arguments(ARG "HOT;COLD" "" "SOURCES;DEPENDS;LINKS;APART" ${ARGN})
  add_library(tpack_${name} OBJECT ${ARG_SOURCES} ${ARG_APART})
  add_library(tpack::${name} ALIAS tpack_${name})
  set_target_properties(tpack_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  tpack_unity(tpack_${name} ${CMAKE_SOURCE_DIR}/lib)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(ARG_HOT)
    target_compile_options(tpack_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O3>)
  elseif(ARG_COLD)
    target_compile_options(tpack_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  endif()
  target_link_libraries(tpack_${name} PUBLIC tpack_options PRIVATE ${ARG_LINKS} Threads::Threads)
  foreach(module ${ARG_DEPENDS})
    if(NOT TARGET tpack_${module})
      message(FATAL_ERROR "module ${name} depends on ${module}, which comes later: see docs/architecture.md")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TPACK_MODULES tpack_${name})
  set_property(GLOBAL PROPERTY TPACK_DEPENDS_${name} ${ARG_DEPENDS})
  set_property(GLOBAL PROPERTY TPACK_LINKS_${name} ${ARG_LINKS})
endfunction()

# tpack_link_modules(TARGET MODULE ...): links the objects of these modules and of all that they depend on, and of no other. So a
# program that needs few modules does not wait for the whole library.
function(tpack_link_modules target)
  set(waiting ${ARGN})
  set(modules "")
  while(waiting)
    list(POP_FRONT waiting module)
    if(NOT module IN_LIST modules)
      list(APPEND modules ${module})
      get_property(depends GLOBAL PROPERTY TPACK_DEPENDS_${module})
      list(APPEND waiting ${depends})
    endif()
  endwhile()
  foreach(module ${modules})
    get_property(links GLOBAL PROPERTY TPACK_LINKS_${module})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tpack_${module}>)
    target_link_libraries(${target} PRIVATE ${links})
  endforeach()
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()

# tpack_protobuf(NAME MESSAGE ...): adds the classes of messages (files below lib/ without .proto) to a module. protoc runs when the build is
# configured, so that clang-tidy, which builds nothing, has its headers. Files that stay the same keep their dates.
function(tpack_protobuf name)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/protoc)
  foreach(message ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lib/${message}.proto)
    execute_process(COMMAND ${Protobuf_PROTOC_EXECUTABLE} --proto_path=${CMAKE_SOURCE_DIR}/lib --cpp_out=${CMAKE_BINARY_DIR}/protoc
                            ${message}.proto
                    COMMAND_ERROR_IS_FATAL ANY)
    foreach(extension cc h)
      configure_file(${CMAKE_BINARY_DIR}/protoc/${message}.pb.${extension} ${generated}/${message}.pb.${extension} COPYONLY)
    endforeach()
    set_source_files_properties(${generated}/${message}.pb.cc PROPERTIES COMPILE_OPTIONS -w)
    target_sources(tpack_${name} PRIVATE ${generated}/${message}.pb.cc)
  endforeach()
  target_include_directories(tpack_${name} SYSTEM PRIVATE ${generated})
endfunction()
