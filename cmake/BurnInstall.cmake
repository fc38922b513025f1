# What `cmake --install` lays down: the public headers under include/burn, the libraries and programs (each installed by
# the function that made it), and the package that find_package(burn CONFIG) reads. The component `dev` is all but the
# programs: scripts/package makes libburn-dev of it.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/burn")

# What is for others to include: the framework, a worker inside a program, and what a backend is written with. The rest
# of the tree is ours to change.
file(GLOB for_backends RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
  "backends/*.h" "compile/rewrite/*.h" "compile/fusion/*.h" "compile/plan/*.h" "ir/*.h" "ir/semantics/*.h")
set(public_headers
  burn/burn.h burn/prelude.h
  client/ops/formula.h client/record/recording.h nn/param_group.h nn/training.h store/safetensors.h
  proto/session_registry.h server/server.h session/local_session.h
  ${for_backends})
install(CODE "
  set(BURN_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
  set(BURN_STAGE_DIR \"${PROJECT_BINARY_DIR}/public_headers\")
  set(BURN_PUBLIC_HEADERS \"${public_headers}\")
  set(BURN_HEADER_DESTINATION \"${CMAKE_INSTALL_INCLUDEDIR}\")" COMPONENT dev)
install(SCRIPT cmake/InstallHeaders.cmake COMPONENT dev)

install(TARGETS burn EXPORT burnTargets)
install(EXPORT burnTargets NAMESPACE burn:: DESTINATION "${package_dir}" COMPONENT dev)

configure_package_config_file(cmake/burnConfig.cmake.in burnConfig.cmake INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(burnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/burnConfig.cmake"
  "${PROJECT_BINARY_DIR}/burnConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/BurnDependencies.cmake"
  DESTINATION "${package_dir}" COMPONENT dev)
