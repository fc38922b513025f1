// Compiles xxHash into a plug-in, so that the library need not be installed where the plug-in is loaded: its functions
// are compiled here, from the inline definitions in its header, and hidden (backends/CMakeLists.txt).
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>

// In the library this function selects an implementation by processor (base/xxh3.h). The hash is the same.
extern "C" XXH128_hash_t XXH3_128bits_dispatch(const void* input, size_t length) { return XXH3_128bits(input, length); }
