// Applies a macro to each field that BURN_MODULE and BURN_CONFIG list: BURN_FOR_EACH(m, a, b, c) is m(a) m(b) m(c), for
// up to 256 fields. C++20 has no reflection; __VA_OPT__ and a rescan per argument replace it.
#pragma once

#define BURN_NAME_AND_FIELD(f) fn(#f, f);

#define BURN_FOR_EACH(macro, ...) __VA_OPT__(BURN_EXPAND(BURN_FOR_EACH_HELPER(macro, __VA_ARGS__)))
#define BURN_FOR_EACH_HELPER(macro, first, ...) \
  macro(first) __VA_OPT__(BURN_FOR_EACH_AGAIN BURN_PARENS(macro, __VA_ARGS__))
#define BURN_FOR_EACH_AGAIN() BURN_FOR_EACH_HELPER
#define BURN_PARENS ()
#define BURN_EXPAND(...) BURN_EXPAND3(BURN_EXPAND3(BURN_EXPAND3(BURN_EXPAND3(__VA_ARGS__))))
#define BURN_EXPAND3(...) BURN_EXPAND2(BURN_EXPAND2(BURN_EXPAND2(BURN_EXPAND2(__VA_ARGS__))))
#define BURN_EXPAND2(...) BURN_EXPAND1(BURN_EXPAND1(BURN_EXPAND1(BURN_EXPAND1(__VA_ARGS__))))
#define BURN_EXPAND1(...) __VA_ARGS__
