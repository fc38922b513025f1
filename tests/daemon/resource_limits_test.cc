#include "daemon/resource_limits.h"

#include <gtest/gtest.h>

namespace burn::daemon {
namespace {

constexpr std::size_t kMany = 1 << 20;  // descriptors

TEST(ResourceLimits, HaveMoreConnectionsThanSessions) {
  const ServiceOptions options{.ws = "127.0.0.1:0", .sessions = 1000, .sessions_per_peer = 100};
  const ResourceLimits limits{options, kMany};
  EXPECT_EQ(limits.connections().all, 1266u);
  EXPECT_EQ(limits.connections().per_peer, 116u);
  EXPECT_EQ(limits.warning(), "");
  EXPECT_EQ(ResourceLimits::sessions(options).all, 1000u);
  EXPECT_EQ(ResourceLimits::sessions(options).per_peer, 100u);
}

TEST(ResourceLimits, TakeWhatTheOptionsSay) {
  EXPECT_EQ(ResourceLimits({.sessions = 1000, .max_connections = 77}, kMany).connections().all, 77u);
}

TEST(ResourceLimits, HaveNoMoreConnectionsThanDescriptors) {
  const ServiceOptions ws{.ws = "127.0.0.1:0"}, both{.ws = "127.0.0.1:0", .grpc = "127.0.0.1:0"};
  const ResourceLimits few{ws, 164};
  EXPECT_EQ(few.connections().all, 100u);
  EXPECT_EQ(few.warning(), "connections are limited to 100, not 1296: there are descriptors for no more (ulimit -n)");
  EXPECT_EQ(ResourceLimits(both, 364).connections().all, 100u) << "three descriptors each";
  ServiceOptions router = ws;
  router.session_descriptors = 3;
  EXPECT_EQ(ResourceLimits(router, 464).connections().all, 100u) << "four descriptors each";
  EXPECT_EQ(ResourceLimits(ws, 10).connections().all, 4u);
}

TEST(ResourceLimits, OnePeerDoesNotGetAllConnections) {
  const ServiceOptions shared{.sessions = 100, .sessions_per_peer = 99},
      alone{.sessions = 100, .sessions_per_peer = 100};
  EXPECT_EQ(ResourceLimits(shared, kMany).connections().per_peer, 105u) << "three quarters of 141";
  EXPECT_EQ(ResourceLimits(alone, kMany).connections().per_peer, 116u);
}

TEST(ResourceLimits, WithTenantsOnePeerMayHaveMoreConnections) {
  const ServiceOptions options{
      .ws = "127.0.0.1:0", .tenant_file = "tenants.toml", .sessions = 1000, .sessions_per_peer = 100};
  EXPECT_EQ(ResourceLimits(options, kMany).connections().per_peer, 949u) << "three quarters of 1266";
  EXPECT_EQ(ResourceLimits::sessions(options).per_peer, 100u) << "of a tenant of which nothing else is said";
}

TEST(ResourceLimits, GrpcStartsThreadsForEachCore) {
  EXPECT_GT(ResourceLimits::threads_at_start({.grpc = "127.0.0.1:0"}), ResourceLimits::threads_at_start({}) + 1);
  EXPECT_EQ(ResourceLimits::threads_at_start({.grpc_unix_path = "/tmp/s"}),
            ResourceLimits::threads_at_start({.grpc = "127.0.0.1:0"}));
}

}  // namespace
}  // namespace burn::daemon
