# Installs the headers, the library and a package file, so that find_package(knnmi) gives knnmi::knnmi.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/knnmi)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/cpp/include/knnmi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS knnmi EXPORT knnmi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT knnmi NAMESPACE knnmi:: FILE knnmi-targets.cmake DESTINATION ${package_folder})

configure_file(${CMAKE_CURRENT_LIST_DIR}/knnmi-config.cmake.in knnmi-config.cmake @ONLY)
write_basic_package_version_file(knnmi-config-version.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${CMAKE_CURRENT_BINARY_DIR}/knnmi-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/knnmi-config-version.cmake
  DESTINATION ${package_folder}
)
