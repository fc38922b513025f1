#include "base/intrusive.h"

#include <gtest/gtest.h>

namespace burn {
namespace {

struct Counted {
  int owners = 0;
  int* freed = nullptr;
};
void retain(Counted& object) { ++object.owners; }
void drop(Counted& object) {
  if (--object.owners == 0) ++*object.freed;
}

TEST(Ptr, FreesWithItsLastOwner) {
  int freed = 0;
  Counted object{0, &freed};
  {
    Ptr<Counted> a{&object};
    Ptr<Counted> b = a;
    EXPECT_EQ(object.owners, 2);
    EXPECT_EQ(a, b);
    Ptr<Counted> c = std::move(a);
    EXPECT_FALSE(a);  // NOLINT: moved-from on purpose
    EXPECT_EQ(object.owners, 2);
    b = {};
    EXPECT_EQ(object.owners, 1);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

TEST(Ptr, SurvivesAssignmentToItself) {
  int freed = 0;
  Counted object{0, &freed};
  Ptr<Counted> a{&object};
  const auto& alias = a;
  a = alias;
  EXPECT_EQ(object.owners, 1);
  EXPECT_EQ(freed, 0);
}

TEST(Ptr, MayPointNowhere) {
  const Ptr<Counted> none;
  const Ptr<Counted> copy = none;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.get(), nullptr);
}

}  // namespace
}  // namespace burn
