#include "ir/catalogue.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "ir/op.h"

namespace burn::ir {
namespace {

constexpr const char* kPath = "docs/ops.md";  // tests run in the repository's root

TEST(Catalogue, NamesEveryOpOnce) {
  std::set<std::string> names;
  for (const auto& entry : catalogue()) names.insert(entry.name);
  EXPECT_EQ(names.size(), catalogue().size());
  EXPECT_EQ(names.size(), static_cast<std::size_t>(pointwise_count()) + std::variant_size_v<Op> - 1);
}

TEST(Catalogue, SaysWhatEveryOpTakesAndGives) {
  for (const auto& entry : catalogue()) {
    EXPECT_NE(entry.signature.find("->"), std::string::npos) << entry.name;
    EXPECT_EQ(entry.tier == "pointwise", !entry.formula.empty()) << entry.name;
    EXPECT_EQ(entry.tier == "pointwise", !entry.doc.empty()) << entry.name;
  }
}

TEST(Catalogue, FingerprintIsStableWithinABuild) {
  EXPECT_NE(op_set_fingerprint(), 0u);
  EXPECT_EQ(op_set_fingerprint(), op_set_fingerprint());
}

TEST(Catalogue, IsWhatDocsOpsMdSays) {
  if (std::getenv("BURN_UPDATE_DOCS")) std::ofstream{kPath} << catalogue_markdown();
  std::ostringstream text;
  text << std::ifstream{kPath}.rdbuf();
  EXPECT_EQ(text.str(), catalogue_markdown()) << kPath << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace burn::ir
