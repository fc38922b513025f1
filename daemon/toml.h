// toml++ without its assertions. Invalid TOML violates some of them ("[[[[" does), which would abort a debug build, and
// on which a build with NDEBUG relies for optimization; the parser reports such text without them, too.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
