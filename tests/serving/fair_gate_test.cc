// Turns at a device among tenants, and what their sessions hold together.
#include "serving/fair_gate.h"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "serving/budget.h"

namespace burn::serving {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::shared_ptr<TenantAccount> tenant(const std::string& name, unsigned weight,
                                      TenantClass priority = TenantClass::normal) {
  auto account = std::make_shared<TenantAccount>(name);
  account->set({.weight = weight, .priority = priority});
  return account;
}

// Sessions that run without a pause, each for `run` at a time, until the time is over.
class Load {
 public:
  Load(FairGate& gate, std::shared_ptr<TenantAccount> account, std::chrono::microseconds run)
      : thread_([&gate, account = std::move(account), run] {
          const FairGate::Place place{gate, account};
          SessionSignal signal;
          while (!is_over) {
            const auto turn = gate.enter(place, signal);
            std::this_thread::sleep_for(run);
          }
        }) {}
  ~Load() { thread_.join(); }

  static inline std::atomic<bool> is_over;

 private:
  std::thread thread_;
};

TEST(FairGate, SharesADeviceByWeight) {
  FairGate gate;
  const std::array accounts{tenant("a", 1), tenant("b", 2), tenant("c", 4)};
  Load::is_over = false;
  {
    // Two sessions each: a tenant of one alone does not wait while it leaves, so it has every second turn at most.
    const Load a{gate, accounts[0], 300us}, b{gate, accounts[1], 900us}, c{gate, accounts[2], 500us};
    const Load a2{gate, accounts[0], 300us}, b2{gate, accounts[1], 900us}, c2{gate, accounts[2], 500us};
    std::this_thread::sleep_for(1500ms);
    Load::is_over = true;
  }
  double sum = 0;
  for (const auto& account : accounts) sum += static_cast<double>(account->device().count());
  for (const auto& account : accounts) {
    const auto share = static_cast<double>(account->device().count()) / sum;
    EXPECT_NEAR(share, account->weight() / 7.0, 0.1 * account->weight() / 7.0 + 0.01) << account->name();
    EXPECT_GT(account->queue().count(), 0) << account->name();
  }
}

// Runs of one tenant that begin together all count: else one with many sessions would pay for one run in several.
TEST(FairGate, ATenantGetsNoLargerShareByMoreSessions) {
  FairGate gate;
  const auto many = tenant("many", 1), few = tenant("few", 1);
  Load::is_over = false;
  {
    std::vector<std::unique_ptr<Load>> loads;
    for (int k = 0; k < 8; ++k) loads.push_back(std::make_unique<Load>(gate, many, 500us));
    for (int k = 0; k < 2; ++k) loads.push_back(std::make_unique<Load>(gate, few, 500us));
    std::this_thread::sleep_for(1500ms);
    Load::is_over = true;
  }
  const auto share =
      static_cast<double>(many->device().count()) / static_cast<double>(many->device().count() + few->device().count());
  EXPECT_NEAR(share, 0.5, 0.05);
}

TEST(FairGate, ALowerClassBeginsNothingWhileAHigherOneWaits) {
  FairGate gate;
  const auto normal = tenant("normal", 1), low = tenant("low", 100, TenantClass::low);
  Load::is_over = false;
  {
    // Two sessions: while one runs, the other waits.
    const Load first{gate, normal, 500us}, second{gate, normal, 500us}, other{gate, low, 500us};
    std::this_thread::sleep_for(800ms);
    Load::is_over = true;
  }
  EXPECT_LT(static_cast<double>(low->device().count()), 0.05 * static_cast<double>(normal->device().count()));
}

TEST(FairGate, RunsOfOneTenantDoNotWaitForEachOther) {
  FairGate gate;
  const auto account = tenant("a", 1);
  const FairGate::Place first{gate, account}, second{gate, account};
  SessionSignal signal;
  EXPECT_FALSE(gate.is_shared());
  const auto one = gate.enter(first, signal);
  const auto two = gate.enter(second, signal);  // would wait for ever
  EXPECT_EQ(account->queue().count(), 0);
}

TEST(FairGate, ASessionThatClosesWaitsNoLonger) {
  FairGate gate;
  const FairGate::Place holder{gate, tenant("a", 1)}, other{gate, tenant("b", 1)};
  SessionSignal theirs, ours;
  EXPECT_TRUE(gate.is_shared());
  auto held = std::make_unique<FairGate::Turn>(gate.enter(holder, theirs));
  std::thread waiting{[&] { const auto none = gate.enter(other, ours); }};
  std::this_thread::sleep_for(20ms);
  ours.close();
  waiting.join();
  held.reset();
  const auto next = gate.enter(holder, theirs);  // nothing is left behind that would hold it
}

TEST(FairGate, ARunThatIsNotToWaitDoesNot) {
  FairGate gate;
  const auto account = tenant("b", 1);
  const FairGate::Place holder{gate, tenant("a", 1)}, other{gate, account};
  SessionSignal signal;
  const auto held = gate.enter(holder, signal);
  {
    const auto turn = gate.enter(other, signal, false);
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_GE(account->device(), 2ms) << "it counts";
}

TEST(FairGate, ARunThatIsNotToWaitLeavesTheDeviceToItsHolder) {
  FairGate gate;
  const auto account = tenant("a", 1);
  const FairGate::Place holder{gate, account}, second{gate, account}, other{gate, tenant("b", 1)};
  SessionSignal signal, of_second;
  const auto held = gate.enter(holder, signal);
  const auto beside = gate.enter(other, signal, false);
  auto next = std::async(std::launch::async, [&] { const auto turn = gate.enter(second, of_second); });
  EXPECT_EQ(next.wait_for(5s), std::future_status::ready) << "runs of the tenant that holds it need not wait";
  of_second.close();
}

TEST(FairGate, WithoutATenantNothingIsCounted) {
  FairGate gate;
  const FairGate::Place none{gate, nullptr};
  SessionSignal signal;
  const auto turn = gate.enter(none, signal);
  EXPECT_FALSE(gate.is_shared());
}

TEST(TenantAccount, BoundsWhatAllItsSessionsHold) {
  const auto account = std::make_shared<TenantAccount>("vision");
  account->set({.memory = 100});
  auto first = std::make_shared<Budget>(1000, nullptr, account),
       second = std::make_shared<Budget>(1000, nullptr, account);
  auto sixty = first->take(60);
  ASSERT_TRUE(sixty.ok());
  const auto more = second->take(41);
  EXPECT_EQ(more.status().message(),
            "41 bytes more than the 60 in use exceed what the sessions of tenant vision may hold together, 100");
  EXPECT_EQ(second->in_use(), 0u) << "what is refused is not held";
  EXPECT_EQ(account->refused(), 1u);
  auto forty = second->take(40);
  ASSERT_TRUE(forty.ok());
  { const auto given_back = *std::move(sixty); }
  EXPECT_EQ(account->in_use(), 40u);
  account->set({.memory = 10});
  EXPECT_FALSE(first->take(1).ok());
  { const auto given_back = *std::move(forty); }
  EXPECT_TRUE(first->take(10).ok());
  EXPECT_EQ(account->in_use(), 0u);
}

}  // namespace
}  // namespace burn::serving
