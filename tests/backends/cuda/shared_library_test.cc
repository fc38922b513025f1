// Libraries found when the program runs, with those of C in the place of CUDA's: what is there is called, and what is
// not is named.
#include "backends/cuda/driver/shared_library.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::testing {
namespace {

using backends::cuda::LibraryFunction;
using backends::cuda::LibraryTable;
using backends::cuda::SharedLibrary;

struct Functions {
  double (*cos)(double) = nullptr;
  int (*abs)(int) = nullptr;
};
Functions functions;

LibraryTable mathematics() {
  functions = {};
  return {.title = "Mathematics",
          .file = "libm",
          .releases = {{"libm.so.6"}},
          .functions = {BURN_LIBRARY_FUNCTION("cos", functions.cos)},
          .missing = "libm, which calculates, is not there",
          .lacking = "libm has no",
          .version = [] { return 12034; },
          .oldest = 12000,
          .written = backends::cuda::version_by_thousands};
}

TEST(SharedLibrary, GivesTheFunctionsOfItsTable) {
  SharedLibrary library(mathematics());
  ASSERT_EQ(library.load(), Status{});
  EXPECT_EQ(functions.cos(0), 1);
  EXPECT_EQ(library.version(), 12034);
  EXPECT_EQ(library.version_text(), "12.0.34");
}

TEST(SharedLibrary, IsOpenedOnce) {
  SharedLibrary library(mathematics());
  ASSERT_EQ(library.load(), Status{});
  functions.cos = nullptr;
  ASSERT_EQ(library.load(), Status{});
  EXPECT_EQ(functions.cos, nullptr);
}

TEST(SharedLibrary, IsTheFirstReleaseThatIsThere) {
  auto table = mathematics();
  table.releases = {{"libm.so.99"}, {"libm.so.6"}, {"libm.so.98"}};
  EXPECT_EQ(SharedLibrary(table).load(), Status{});
}

TEST(SharedLibrary, ThatIsNowhereIsMissingAndTheLoaderSaysWhy) {
  auto table = mathematics();
  table.releases = {{"libm.so.99"}, {"/nowhere/libm.so"}};
  EXPECT_EQ(SharedLibrary(table).load(),
            failed_precondition("libm, which calculates, is not there (/nowhere/libm.so: cannot open shared object "
                                "file: No such file or directory)"));
  EXPECT_EQ(functions.cos, nullptr);
}

TEST(SharedLibrary, WantsAllFilesOfARelease) {
  auto table = mathematics();
  table.functions.push_back(BURN_LIBRARY_FUNCTION("abs", functions.abs));
  table.releases = {{"libc.so.6", "libm.so.99"}};
  EXPECT_THAT(SharedLibrary(table).load().message(), ::testing::HasSubstr("is not there (libm.so.99: "));
  table.releases.push_back({"libc.so.6", "libm.so.6"});
  ASSERT_EQ(SharedLibrary(table).load(), Status{});
  EXPECT_EQ(functions.abs(-3), 3);
}

TEST(SharedLibrary, NamesTheFunctionThatItLacks) {
  auto table = mathematics();
  table.functions.push_back(BURN_LIBRARY_FUNCTION("quadrature_of_the_circle", functions.abs));
  EXPECT_EQ(SharedLibrary(table).load(), failed_precondition("libm has no quadrature_of_the_circle"));
}

TEST(SharedLibrary, OfAnOlderVersionIsNotTaken) {
  auto table = mathematics();
  table.oldest = 12035;
  EXPECT_EQ(SharedLibrary(table).load(),
            failed_precondition("CUDA: libm is of version 12034; 12035 is the oldest that is supported"));
}

TEST(SharedLibrary, FindsWhatNotEveryVersionHas) {
  SharedLibrary library(mathematics());
  EXPECT_NE(library.find("sin"), nullptr);
  EXPECT_EQ(library.find("quadrature_of_the_circle"), nullptr);
  auto table = mathematics();
  table.releases = {{"libm.so.99"}};
  EXPECT_EQ(SharedLibrary(table).find("sin"), nullptr);
}

TEST(SharedLibrary, WritesItsVersionAsItCounts) {
  EXPECT_EQ(backends::cuda::version_by_ten_thousands(91002), "9.10.2");
  EXPECT_EQ(backends::cuda::version_by_thousands(12004), "12.0.4");
}

}  // namespace
}  // namespace burn::testing
