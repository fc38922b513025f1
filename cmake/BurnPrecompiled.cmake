# Headers that most files include are parsed once for all of them (docs/build-time.md has what that saves). A file must
# compile without, too: the preset "clang" has no precompiled headers, and neither has clang-tidy.
#
#   burn_precompiled(<name> [PROGRAMS] HEADERS <header>... [DEFINITIONS <definition>...] [OPTIONS <option>...])
#     what targets of the same flags can share: libraries (-fPIC), or PROGRAMS (-fPIE)
#   burn_use_precompiled(<target> <name>)
#
# GCC takes such a header only where macros that it mentions are defined as they were for it: -pthread is therefore given
# to all files alike, and what is compiled with -fopenmp has a precompiled header of its own.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompile_by_default ON)
else()
  set(precompile_by_default OFF)
endif()
option(BURN_PRECOMPILE "Precompile the headers that most files include" ${precompile_by_default})

set(BURN_PRECOMPILED_LAUNCHER) # what compiles the precompiled headers themselves
if(BURN_PRECOMPILE)
  add_compile_options(-pthread)
  if(BURN_CCACHE AND BURN_CCACHE IN_LIST CMAKE_CXX_COMPILER_LAUNCHER)
    # Without this sloppiness it caches no file that has a precompiled header. Without checksums it reads the whole header for
    # each file: 0.3 to 0.5 s.
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true)
    set(BURN_PRECOMPILED_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/checksum-precompiled-header" ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()

function(burn_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PROGRAMS" "" "HEADERS;DEFINITIONS;OPTIONS")
  if(NOT BURN_PRECOMPILE)
    return()
  endif()
  set(source "${PROJECT_BINARY_DIR}/precompiled_${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// What the precompiled headers of \"${name}\" hang on.\n")
  add_library(precompiled_${name} OBJECT "${source}")
  target_compile_features(precompiled_${name} PRIVATE cxx_std_20)
  target_include_directories(precompiled_${name} PRIVATE "${burn_SOURCE_DIR}")
  target_compile_definitions(precompiled_${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(precompiled_${name} PRIVATE ${BURN_WARNINGS} ${arg_OPTIONS})
  if(arg_PROGRAMS)
    set_target_properties(precompiled_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(precompiled_${name} PRIVATE -fPIE)
  endif()
  target_precompile_headers(precompiled_${name} PRIVATE ${arg_HEADERS})
  if(BURN_PRECOMPILED_LAUNCHER)
    set_target_properties(precompiled_${name} PROPERTIES CXX_COMPILER_LAUNCHER "${BURN_PRECOMPILED_LAUNCHER}")
  endif()
endfunction()

function(burn_use_precompiled target name)
  if(BURN_PRECOMPILE)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    target_precompile_headers(${target} REUSE_FROM precompiled_${name})
  endif()
endfunction()

# In angle brackets: CMake writes other paths in full, and the compiler cache would not know the same file elsewhere.
set(BURN_COMMON_HEADERS <algorithm> <atomic> <chrono> <condition_variable> <functional> <map> <memory> <mutex> <optional> <ranges> <span>
  <sstream> <string> <thread> <unordered_map> <vector>)
burn_precompiled(program HEADERS ${BURN_COMMON_HEADERS} <ir/program.h>)
burn_precompiled(module HEADERS ${BURN_COMMON_HEADERS} <nn/module/module.h>)
burn_precompiled(application PROGRAMS HEADERS ${BURN_COMMON_HEADERS} <nn/nn.h> <train/train.h>)
