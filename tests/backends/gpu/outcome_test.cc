// What the outputs of a run hang on while the device has not said yet what its checks found.
#include "backends/gpu/outcome.h"

#include <gtest/gtest.h>

namespace burn::backends {
namespace {

using ReportPtr = std::shared_ptr<Report>;
using OutcomePtr = std::shared_ptr<const Outcome>;

OutcomePtr hangs_on(std::vector<ReportPtr> reports) {
  std::vector<Outcome::Entry> entries;
  entries.reserve(reports.size());
  for (auto& report : reports) entries.push_back({std::move(report), 0});
  return std::make_shared<const Outcome>(std::move(entries));
}

std::vector<const Report*> reports_of(const OutcomePtr& outcome) {
  std::vector<const Report*> reports;
  for (const auto& entry : outcome ? outcome->entries() : std::vector<Outcome::Entry>{}) {
    reports.push_back(entry.report.get());
  }
  return reports;
}

class Outcomes : public ::testing::Test {
 protected:
  static OutcomePropagation inherit(const std::vector<OutcomePtr>& inputs, const ReportPtr& own = nullptr) {
    std::vector<const Outcome*> plain;
    plain.reserve(inputs.size());
    for (const auto& input : inputs) plain.push_back(input.get());
    return {plain, own};
  }
  static Failure failure() { return std::make_shared<const Status>(StatusCode::out_of_range, "index 12"); }

  ReportPtr first = std::make_shared<Report>(1), second = std::make_shared<Report>(1),
            third = std::make_shared<Report>(1);
};

TEST_F(Outcomes, OfInputsAreThoseOfWhatIsComputedFromThem) {
  auto inheritance = inherit({hangs_on({first}), nullptr, hangs_on({second})});
  EXPECT_EQ(reports_of(inheritance.of({true, false, false}, {})), (std::vector<const Report*>{first.get()}));
  EXPECT_EQ(reports_of(inheritance.of({false, true, true}, {})), (std::vector<const Report*>{second.get()}));
  EXPECT_EQ(inheritance.of({false, true, false}, {}), nullptr);
}

TEST_F(Outcomes, AreInTheOrderOfTheRunsAndEachOnce) {
  auto inheritance = inherit({hangs_on({second, third}), hangs_on({first, third})});
  EXPECT_EQ(reports_of(inheritance.of({true, true}, {})),
            (std::vector<const Report*>{first.get(), second.get(), third.get()}));
}

TEST_F(Outcomes, EndWithTheRunsOwnChecks) {
  const auto own = std::make_shared<Report>(2);
  auto inheritance = inherit({hangs_on({first})}, own);
  const auto both = inheritance.of({true}, {true, true});
  ASSERT_EQ(both->entries().size(), 3u);
  EXPECT_EQ(both->entries()[1].check, 0u);
  EXPECT_EQ(both->entries()[2].check, 1u);
  EXPECT_EQ(both->entries()[2].report, own);
  EXPECT_EQ(reports_of(inheritance.of({false}, {false, true})), (std::vector<const Report*>{own.get()}));
  EXPECT_EQ(inheritance.of({false}, {false, false}), nullptr);
}

TEST_F(Outcomes, AreOneForOutputsThatHangOnTheSame) {
  const auto shared = hangs_on({first, second});
  auto inheritance = inherit({shared, shared, nullptr}, third);
  const auto a = inheritance.of({true, false, false}, {true});
  EXPECT_EQ(a, inheritance.of({false, true, true}, {true}));
  EXPECT_NE(a, inheritance.of({true, false, false}, {false}));
}

TEST_F(Outcomes, DropWhatHasTurnedOutWellAndKeepWhatHasNot) {
  first->publish();
  second->set_failure(0, failure());
  second->publish();
  auto inheritance = inherit({hangs_on({first, second, third}), hangs_on({first})});
  const auto outcome = inheritance.of({true, true}, {});
  EXPECT_EQ(reports_of(outcome), (std::vector<const Report*>{second.get(), third.get()}));
  EXPECT_EQ(outcome->failure()->message(), "index 12");
  EXPECT_EQ(inheritance.of({false, true}, {}), nullptr);
}

}  // namespace
}  // namespace burn::backends
