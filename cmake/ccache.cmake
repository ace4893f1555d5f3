# Compiles through ccache where it is installed. Objects do not depend on where the checkout lies, so that a second clone
# takes what the first one compiled. There are no precompiled headers: they save half a second a file, but their bytes
# differ from clone to clone, and with them every look-up would miss.
find_program(TPACK_CCACHE ccache)
if(TPACK_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime,time_macros ${TPACK_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
