// Any conversation with a router's fleet of two workers: it is answered in sound frames, ends when a rule is broken,
// and both workers have freed everything when the client is gone.
#include <cstdint>
#include <cstdlib>

#include "net/serve/connection.h"
#include "router/fleet_session.h"
#include "session/local_session.h"
#include "tests/fuzz/conversation.h"
#include "tests/server/fake_channel.h"
#include "tests/session/fake_backend.h"

namespace burn {
namespace {

constexpr int kMembers = 2;

struct Member {
  std::shared_ptr<session::FakeDevice> device = std::make_shared<session::FakeDevice>();
  std::shared_ptr<session::Worker> worker = session::Worker::create(session::make_fake_backend(device));
};

class FleetHost final : public net::SessionHost {
 public:
  FleetHost(std::span<const Member> members, const serving::Quotas& quotas) : members_(members), quotas_(quotas) {}

  const std::vector<std::string>& devices() const override { return devices_; }
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& /*hello*/) override {
    router::FleetOptions options{
        .mesh = {.data = kMembers}, .quotas = quotas_, .group_timeout = std::chrono::milliseconds{2000}};
    for (const auto& member : members_) {
      options.members.push_back(session::make_local_session(member.worker, quotas_));
      options.names.emplace_back("a worker");
    }
    return router::make_fleet_session(std::move(options));
  }
  void log(net::Severity /*severity*/, std::string_view /*line*/) override {}

 private:
  const std::vector<std::string> devices_{"fleet"};
  const std::span<const Member> members_;
  const serving::Quotas quotas_;
};

}  // namespace
}  // namespace burn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace burn;
  if (size > 4096) return 0;
  static const std::vector<Member> members(kMembers);
  const serving::Quotas quotas{
      .tensor_bytes = 1 << 22, .tensors = 16, .programs = 8, .program_entries = 36, .in_flight = 16};
  fuzz::Input in{data, size, 12};
  {
    const auto host = std::make_shared<FleetHost>(members, quotas);
    const auto connection = std::make_shared<net::Connection>(std::make_shared<server::FakeChannel>(), host, nullptr);
    fuzz::converse(in, *connection);
    connection->on_closed(ok_status());
    connection->dispose();
  }
  for (const auto& member : members) {
    if (member.device->in_use != 0 || member.device->shared_donations != 0) std::abort();
  }
  return 0;
}
