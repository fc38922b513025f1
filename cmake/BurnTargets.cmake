# The words a folder's CMakeLists.txt is written in.
#
#   burn_library(<name> SOURCES <files>... [PUBLIC_DEPS <targets>...] [PRIVATE_DEPS <targets>...] [PRECOMPILED program|module|none])
#   burn_executable(<name> [INSTALL] SOURCES <files>... [DEPS <targets>...] [PRECOMPILED application])
#   burn_test(<name> SOURCES <files>... [DEPS <targets>...] LABELS unit|device|network|slow|vulkan... [ENVIRONMENT <VAR=value>...]
#             [PRECOMPILED test|test_tensor|test_train])
#
# Everything includes by repository path ("ir/op.h"), so the repository root is the only include folder of ours.

include(GoogleTest)

# Tests are compiled for longer than they run; what they test is compiled as it is shipped.
set(BURN_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)

# A misspelt keyword would otherwise be taken for one more source file, or be ignored.
macro(burn_check_arguments function)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "${function}(${name}): SOURCES is empty")
  endif()
endmacro()

add_custom_target(burn_libraries) # all that burn_library() makes, as `cmake --install --component dev` needs them

# The static library burn_<name>, known as burn::<name> here and after find_package(burn). Slashes become
# underscores: burn_library(backends/cpu ...) is burn::backends_cpu.
function(burn_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;PUBLIC_DEPS;PRIVATE_DEPS")
  burn_check_arguments(burn_library)
  string(REPLACE "/" "_" name "${name}")
  set(target burn_${name})

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(burn::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${burn_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  target_compile_options(${target} PRIVATE ${BURN_WARNINGS})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED program)
  endif()
  if(NOT arg_PRECOMPILED STREQUAL "none")
    burn_use_precompiled(${target} ${arg_PRECOMPILED})
  endif()

  add_dependencies(burn_libraries ${target})
  install(TARGETS ${target} EXPORT burnTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
endfunction()

# A program in build/bin. INSTALL for those a user of the installed package runs (servers, tools), not for examples.
function(burn_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTALL" "PRECOMPILED" "SOURCES;DEPS")
  burn_check_arguments(burn_executable)

  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${burn_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_compile_options(${name} PRIVATE ${BURN_WARNINGS})
  if(arg_PRECOMPILED)
    burn_use_precompiled(${name} ${arg_PRECOMPILED})
  endif()

  if(arg_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endfunction()

# One GoogleTest program per folder of tests/: build/bin/test_<name>, whose tests ctest knows one by one as
# <name>.<Suite>.<Test>. They run in the repository's root, so that reference files are named by repository path.
function(burn_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;DEPS;LABELS;ENVIRONMENT")
  burn_check_arguments(burn_test)
  if(NOT arg_LABELS)
    message(FATAL_ERROR "burn_test(${name}): LABELS is empty")
  endif()
  foreach(label IN LISTS arg_LABELS)
    if(NOT label MATCHES "^(unit|device|network|slow|vulkan)$")
      message(FATAL_ERROR "burn_test(${name}): unknown label ${label}")
    endif()
  endforeach()
  string(REPLACE "/" "_" target "test_${name}")
  string(REPLACE "/" "." prefix "${name}.")

  burn_executable(${target} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${BURN_TEST_OPTIONS})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED test)
  endif()
  burn_use_precompiled(${target} ${arg_PRECOMPILED})

  set(timeout 300)
  if("slow" IN_LIST arg_LABELS)
    set(timeout 1800) # thousands of steps, beside other tests
  endif()

  # PRE_TEST: a test program runs when tests do, not as a part of the build. NO_PRETTY_VALUES: a parameterised test is
  # named by its name, not by a print of its parameter.
  gtest_discover_tests(${target}
    TEST_PREFIX "${prefix}"
    WORKING_DIRECTORY "${burn_SOURCE_DIR}"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    NO_PRETTY_VALUES
    PROPERTIES TIMEOUT ${timeout})

  # gtest_discover_tests flattens properties that are lists, so these two are set by a file that ctest reads after its
  # own. Tests run side by side: idle OpenMP threads must sleep, not spin on the cores that the neighbours need.
  set(properties_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake")
  file(CONFIGURE OUTPUT "${properties_file}" @ONLY CONTENT [[
if(@target@_TESTS)
  set_tests_properties(${@target@_TESTS} PROPERTIES
    LABELS "@arg_LABELS@"
    ENVIRONMENT "OMP_WAIT_POLICY=passive;BURN_AUTOTUNE=off;@arg_ENVIRONMENT@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties_file}")
endfunction()
