# What `cmake --install` lays down: the headers under include/burn-cpp/<folder>, the libraries and programs (each
# installed by the function that made it), and the package that find_package(burn CONFIG) reads.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/burn")

foreach(folder IN ITEMS base ir proto backends server client autodiff nn data store train burn)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}")
    install(DIRECTORY "${folder}" DESTINATION "${BURN_INSTALL_INCLUDEDIR}"
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  endif()
endforeach()

install(TARGETS burn EXPORT burnTargets)
install(EXPORT burnTargets NAMESPACE burn:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/burnConfig.cmake.in burnConfig.cmake INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(burnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/burnConfig.cmake"
  "${PROJECT_BINARY_DIR}/burnConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/BurnDependencies.cmake"
  DESTINATION "${package_dir}")
