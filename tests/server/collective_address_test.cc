// The address at which other workers reach this one, found from a name or from digits.
#include "server/collective_address.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::server {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(CollectiveAddress, DigitsStandForThemselves) {
  const auto found = find_collective_address("127.0.0.1");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*found, "127.0.0.1");
}

TEST(CollectiveAddress, ANameIsResolvedToDigits) {
  const auto found = find_collective_address("localhost");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_THAT(*found, AnyOf("127.0.0.1", "::1"));
}

TEST(CollectiveAddress, ANameThatDoesNotResolveIsRefusedWithTheReason) {
  for (const std::string name : {"worker-1.invalid", "", "two words", "worker-1:3000", "[]"}) {
    const auto found = find_collective_address(name);
    ASSERT_FALSE(found.ok()) << name << " stands for " << *found;
    EXPECT_EQ(found.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(found.status().message(), HasSubstr("--collective-address: '" + name + "' is no host: "));
  }
}

TEST(CollectiveAddress, ANameOfAnyLengthIsRefused) {
  EXPECT_FALSE(find_collective_address(std::string(100'000, 'a')).ok());
  EXPECT_FALSE(find_collective_address(std::string{"local\0host", 10}).ok());
}

TEST(CollectiveAddress, AnAddressOfAnotherMachineIsRefused) {
  const auto found = find_collective_address("192.0.2.1");  // of documentation: no machine has it
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::unavailable);
  EXPECT_THAT(found.status().message(), HasSubstr("--collective-address 192.0.2.1: "));
}

TEST(CollectiveAddress, EveryAddressIsRefusedAsOthersNeedOneToCall) {
  const auto found = find_collective_address("0.0.0.0");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(), HasSubstr("0.0.0.0 is every address"));
}

}  // namespace
}  // namespace burn::server
