// Include it where a test draws numbers on `cpu`: it seeds that device before the first test, so that a run can be
// repeated and no draw is badly conditioned once in a while.
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
