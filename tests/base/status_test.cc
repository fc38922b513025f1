#include "base/status.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error.h"

namespace burn {
namespace {

Result<int> half_of(int x) {
  if (x % 2 != 0) return invalid_argument("odd");
  return x / 2;
}

Result<int> quarter_of(int x) {
  BURN_TRY(const int half, half_of(x));
  BURN_TRY(const int quarter, half_of(half));
  return quarter;
}

Status check_even(int x) {
  BURN_RETURN_IF_ERROR(half_of(x).status());
  return {};
}

TEST(Status, PrintsItsCodeAndMessage) {
  EXPECT_EQ(Status{}.to_string(), "OK");
  EXPECT_EQ(not_found("no such tensor").to_string(), "NOT_FOUND: no such tensor");
  EXPECT_EQ(name(static_cast<StatusCode>(99)), "UNKNOWN");
  EXPECT_EQ(name(static_cast<StatusCode>(-1)), "UNKNOWN");
}

TEST(Status, TakesContextInFrontAndOkTakesNone) {
  EXPECT_EQ(not_found("gone").with_context("read").message(), "read: gone");
  EXPECT_EQ(ok_status().with_context("read"), ok_status());
}

TEST(Status, CodesAreThoseOfGrpc) {
  EXPECT_EQ(static_cast<int>(StatusCode::invalid_argument), 3);
  EXPECT_EQ(static_cast<int>(StatusCode::unauthenticated), 16);
  EXPECT_EQ(unimplemented("").code(), StatusCode::unimplemented);
  EXPECT_EQ(data_loss("").code(), StatusCode::data_loss);
}

TEST(Result, HoldsAValueOrTheReasonWhyThereIsNone) {
  EXPECT_EQ(*half_of(4), 2);
  EXPECT_TRUE(half_of(4).status().ok());
  EXPECT_FALSE(half_of(3));
  EXPECT_EQ(half_of(3).status().message(), "odd");
}

TEST(Result, TryStopsAtTheFirstFailure) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_EQ(quarter_of(6).status().message(), "odd");
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_FALSE(check_even(1).ok());
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result{std::make_unique<int>(7)};
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Error, IsThrownForAFailureOnly) {
  EXPECT_EQ(value_or_throw(half_of(4)), 2);
  EXPECT_NO_THROW(throw_if_error({}));
  try {
    value_or_throw(half_of(3));
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "odd");
    EXPECT_EQ(error.code(), StatusCode::invalid_argument);
  }
}

TEST(Check, AbortsWithTheConditionAndTheMessage) {
  EXPECT_DEATH(BURN_CHECK(1 > 2, "the world is upside down"), "1 > 2 .the world is upside down.");
}

TEST(SharedBytes, SlicesKeepTheirOwnerAlive) {
  SharedBytes part;
  {
    const auto whole = SharedBytes::own(std::vector<std::uint16_t>{1, 2, 3});
    EXPECT_EQ(whole.size(), 6u);
    part = whole.slice(2, 2);
  }
  EXPECT_EQ(part.size(), 2u);
  EXPECT_EQ(std::to_integer<int>(part.data()[0]), 2);
  EXPECT_TRUE(SharedBytes{}.empty());
}

}  // namespace
}  // namespace burn
