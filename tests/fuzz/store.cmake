# The fuzz targets of store/ and data/, for tests/fuzz/CMakeLists.txt to include when BURN_FUZZ is on (Clang only).
function(burn_store_fuzz name)
  burn_executable(fuzz_${name} SOURCES "${burn_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cc" DEPS ${ARGN})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

burn_store_fuzz(safetensors burn::store)
burn_store_fuzz(idx burn::data)
