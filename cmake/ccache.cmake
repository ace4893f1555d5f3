# Compiles through ccache where it is installed. Objects do not depend on where the checkout lies, so that a second clone
# takes what the first one compiled. There are no precompiled headers: they save half a second a file, but their bytes
# differ from clone to clone, and with them every look-up would miss.
find_program(TPACK_CCACHE ccache)
if(TPACK_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_ABSSTDERR=1
      CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime,time_macros ${TPACK_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Debug information and __FILE__ name sources from the top of the checkout (lib/core/text.cpp): a debugger that is started there
# finds them. ccache hands the compiler paths relative to the build folder. The last map that fits counts.
file(RELATIVE_PATH top ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
string(REGEX REPLACE "([^/])$" "\\1/" top ${top})
add_compile_options(-ffile-prefix-map=${top}= -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
