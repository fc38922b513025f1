// toml++ without its assertions. Text that is no TOML makes some of them false ("[[[[" is one), which would end a debug
// build, and which a build with NDEBUG takes for facts when it optimizes; the parser reports such text without them,
// too.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
