# Compiles through ccache where it is installed.
find_program(TPACK_CCACHE ccache)
if(TPACK_CCACHE)
  # Precompiled headers carry time stamps that say nothing about the result.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${TPACK_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
