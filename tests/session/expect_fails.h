// A failure by its code and a part of its message.
#pragma once

#include <gtest/gtest.h>

#include "base/status.h"

#define EXPECT_FAILS(status, expected_code, part)                              \
  do {                                                                         \
    const Status said = (status);                                              \
    EXPECT_EQ(said.code(), StatusCode::expected_code) << said.to_string();     \
    EXPECT_NE(said.message().find(part), std::string::npos) << said.message(); \
  } while (false)
