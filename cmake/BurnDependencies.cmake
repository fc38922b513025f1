# What the libraries need from the machine. Read twice: by our own build, and, installed next to burnConfig.cmake, by
# the build of a project that calls find_package(burn). So there is one list, and it cannot differ between the two.
#
# scripts/setup installs all of this on Debian 12. What only programs and tests need (CLI11, GTest) is not exported
# and is found by the root CMakeLists.txt.

if(CMAKE_FIND_PACKAGE_NAME STREQUAL "burn") # inside find_package(burn)
  include(CMakeFindDependencyMacro)
  macro(burn_depend)
    find_dependency(${ARGV})
  endmacro()
else()
  macro(burn_depend)
    find_package(${ARGV} REQUIRED)
  endmacro()
endif()

burn_depend(Threads)
burn_depend(Protobuf MODULE) # Debian ships no config file for it, and gRPC's config wants its targets: hence first
burn_depend(gRPC CONFIG)
burn_depend(Boost 1.81 CONFIG COMPONENTS json url) # 1.74, the default one, lacks Boost.URL and miscompiles in C++20
burn_depend(prometheus-cpp CONFIG)
burn_depend(dnnl CONFIG) # DNNL::dnnl; its config looks for OpenCL, therefore the OpenCL packages in scripts/setup
burn_depend(OpenMP COMPONENTS CXX)
burn_depend(hwy CONFIG) # hwy::hwy
burn_depend(fmt CONFIG)
burn_depend(spdlog CONFIG)
burn_depend(ZLIB)
burn_depend(CURL)

# Libraries that ship no CMake package: burn_import(<target> LIBRARY <name> HEADER <file> [HINTS <folders>...]).
function(burn_import target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY;HEADER" "HINTS")
  find_library(${target}_LIBRARY NAMES ${arg_LIBRARY} HINTS ${arg_HINTS} REQUIRED)
  find_path(${target}_INCLUDE_DIR NAMES ${arg_HEADER} HINTS ${arg_HINTS} REQUIRED)
  mark_as_advanced(${target}_LIBRARY ${target}_INCLUDE_DIR)
  if(NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION "${${target}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${${target}_INCLUDE_DIR}")
  endif()
endfunction()

burn_import(burn_xxhash LIBRARY xxhash HEADER xxhash.h)
burn_import(burn_ncursesw LIBRARY ncursesw HEADER curses.h) # the terminal dashboard

# OpenBLAS by full path and in the OpenMP flavour. oneDNN runs on OpenMP, so both share one thread pool; the pthread
# flavour, Debian's default alternative, would spin a second pool against it. All flavours have the SONAME
# libopenblas.so.0; what loads ours is the run path that CMake derives from this path (and keeps when installing, see
# BurnCompiler.cmake).
burn_import(burn_openblas LIBRARY openblas HEADER cblas.h HINTS
  "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp"
  "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp")
if(NOT burn_openblas_LIBRARY MATCHES "openmp")
  message(WARNING "OpenBLAS is ${burn_openblas_LIBRARY}, not the OpenMP flavour (Debian: libopenblas-openmp-dev). "
                  "Unless it was built with OpenMP, its threads will compete with oneDNN's.")
endif()
