# What `cmake --install` installs beside the program: the libraries, their headers, and what find_package(tpack) needs. Enough to
# build plugins and programs of one's own.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tpack)
install(TARGETS tpack_lib_core tpack_lib_dataflow tpack_lib_graph tpack_lib_learner tpack_lib_tpack EXPORT tpack-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/lib/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tpack FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(EXPORT tpack-targets NAMESPACE tpack:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tpack-config.cmake.in ${CMAKE_BINARY_DIR}/tpack-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tpack-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tpack-config.cmake ${CMAKE_BINARY_DIR}/tpack-config-version.cmake
        DESTINATION ${package_dir})
