#include "ir/catalogue.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
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

std::string written() {
  std::ostringstream text;
  text << std::ifstream{kPath}.rdbuf();
  return text.str();
}

TEST(Catalogue, IsWhatDocsOpsMdSays) {
  if (std::getenv("BURN_UPDATE_DOCS")) {
    const auto text = catalogue_markdown(written());
    std::ofstream{kPath} << text;
  }
  const auto text = written();
  EXPECT_EQ(text, catalogue_markdown(text)) << kPath << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

TEST(Catalogue, EveryStructuredOpHasSemanticsWithConstraints) {
  const auto text = written();
  for (const auto& entry : catalogue()) {
    if (entry.tier != "structured") continue;
    EXPECT_THAT(std::string{semantics_of(entry.name, text)}, testing::HasSubstr("\n* (C1) "))
        << entry.name << " in " << kPath;
  }
}

}  // namespace
}  // namespace burn::ir
