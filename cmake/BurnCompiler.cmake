# How everything here is compiled and linked, set once.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the static libraries may become part of a shared one
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)   # for clang-tidy and editors
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# An installed program finds libraries where the linker found them. This is what keeps it on the OpenMP flavour of
# OpenBLAS: all flavours carry the same SONAME, and without a run path the machine-wide alternative decides which one
# is loaded.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Left alone when this is a part of another project's build.
if(PROJECT_IS_TOP_LEVEL)
  find_program(BURN_CCACHE ccache)
  if(BURN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # What says how much memory the compiler takes changes no object file.
    set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_IGNOREOPTIONS=--param=ggc-*" "${BURN_CCACHE}")
  endif()

  # GCC collects its garbage each time its heap has doubled, and passes through all of a precompiled header for it: an
  # eighth of the time of three files of libraries (docs/build-time.md). When it does not, a file takes more memory, the
  # dearest 1.1 GB, which a machine without 2 GB for each processor may lack.
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # MiB
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR enough_memory "${processors} * 2000")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory GREATER_EQUAL enough_memory)
    add_compile_options(--param=ggc-min-heapsize=1000000) # KiB
  endif()

  find_program(BURN_LINKER NAMES mold ld.lld)
  if(BURN_LINKER)
    cmake_path(GET BURN_LINKER FILENAME linker)
    string(REPLACE "ld.lld" "lld" linker "${linker}")
    add_link_options(-fuse-ld=${linker})
  endif()
endif()

# Warnings for our own sources: burn_library and its siblings add them privately, so that projects that link these do
# not get them.
set(BURN_WARNINGS
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  -Werror=switch # an op without its case must not compile
  -Werror=return-type
  # Aggregates with designated initializers are the house's form of a configuration: fields left out are meant.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND BURN_WARNINGS -Wno-restrict) # sees overlaps in std::string that are not there (GCC bug 105651)
endif()
