// To be included by tests that draw random numbers on `cpu`: seeds that device before the first test, so that runs are
// repeatable and do not fail occasionally because of badly conditioned numbers.
#pragma once

#include <gtest/gtest.h>

#include "client/device.h"

namespace burn::test {

class Seeded : public testing::Environment {
 public:
  void SetUp() override { Device{"cpu"}.seed(7); }
};

inline testing::Environment* const kSeeded = testing::AddGlobalTestEnvironment(new Seeded);

}  // namespace burn::test
