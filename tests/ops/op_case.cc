#include "tests/ops/op_case.h"

namespace burn::testing {

// CASE(<op>) for each file of tests/ops/cases.
#define CASE(op) OpCase op##_case();
#include "tests/ops/op_cases.inc"
#undef CASE

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> all{
#define CASE(op) op##_case(),
#include "tests/ops/op_cases.inc"
#undef CASE
  };
  return all;
}

}  // namespace burn::testing
