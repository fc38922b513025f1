# BURN_CPU_LEVELS, all or native: the levels of x86-64 (baseline; v3, with AVX2; v4, with AVX-512) that the CPU backend's
# loops are compiled for. Included by backends/CMakeLists.txt after the target burn_backends.
#
# "native" compiles the loops for the build machine's level alone, at the same speed, and saves two minutes of a processor
# in a first build (docs/build-time.md). Such a program refuses to open the CPU on a machine of a lower level, and for
# BURN_ISA=v3 or baseline where its loops are of a higher one.
set(BURN_CPU_LEVELS all CACHE STRING "Instruction sets that the CPU backend's loops are compiled for: all, or native (this machine's)")
set_property(CACHE BURN_CPU_LEVELS PROPERTY STRINGS all native)
if(NOT BURN_CPU_LEVELS MATCHES "^(all|native)$")
  message(FATAL_ERROR "BURN_CPU_LEVELS is \"${BURN_CPU_LEVELS}\": it takes all or native")
endif()
if(BURN_CPU_LEVELS STREQUAL "all" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  return() # other compilers have the baseline's loops alone (cpu/simd/machine_level.h)
endif()

# Asked once in a build folder: a later answer would be the same.
if(NOT DEFINED BURN_CPU_LEVEL)
  file(CONFIGURE OUTPUT machine_level.cc CONTENT "#include \"backends/cpu/simd/machine_level.h\"
int main() { return static_cast<int>(burn::backends::cpu::machine_level()); }\n")
  try_run(BURN_CPU_LEVEL level_compiles "${CMAKE_CURRENT_BINARY_DIR}/machine_level" "${CMAKE_CURRENT_BINARY_DIR}/machine_level.cc"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}"
    COMPILE_OUTPUT_VARIABLE level_output)
  if(NOT level_compiles OR NOT BURN_CPU_LEVEL MATCHES "^[134]$")
    set(answer "${BURN_CPU_LEVEL}")
    unset(BURN_CPU_LEVEL CACHE)
    message(FATAL_ERROR "BURN_CPU_LEVELS=native: this processor's level is not known (${answer}); use all. ${level_output}")
  endif()
endif()
message(STATUS "Loops of the CPU backend: for level ${BURN_CPU_LEVEL} of x86-64 alone (BURN_CPU_LEVELS=native)")

# Only files with such loops, and isa.cc, which reports the level, are compiled differently. A file whose loops were not
# found here would have them for all levels.
set(files cpu/simd/isa.cc)
get_target_property(sources burn_backends SOURCES)
foreach(source IN LISTS sources)
  file(STRINGS "${source}" includes REGEX "^#include [<\"](backends/cpu/simd/foreach\\.h|hwy/foreach_target\\.h)[>\"]")
  if(includes MATCHES "backends/cpu")
    list(APPEND files "${source}")
  elseif(includes)
    list(APPEND files_of_highway "${source}")
  endif()
endforeach()
set_property(SOURCE ${files} ${files_of_highway} APPEND PROPERTY COMPILE_DEFINITIONS "BURN_ONLY_LEVEL=${BURN_CPU_LEVEL}")

# Highway compiles for the level of the compiler's options and, unless told otherwise, for all higher ones. Its AVX2 is v3
# and instructions for encryption, which no loop uses.
set_property(SOURCE ${files_of_highway} APPEND PROPERTY COMPILE_DEFINITIONS HWY_COMPILE_ONLY_STATIC HWY_DISABLE_PCLMUL_AES)
if(NOT BURN_CPU_LEVEL EQUAL 1)
  set_property(SOURCE ${files_of_highway} APPEND PROPERTY COMPILE_OPTIONS "-march=x86-64-v${BURN_CPU_LEVEL}")
  set_source_files_properties(${files_of_highway} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # GCC takes none of another level
endif()
