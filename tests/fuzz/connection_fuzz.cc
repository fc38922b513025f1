// Any conversation with a worker: it answers in sound frames, ends when a rule is broken, and has freed everything when
// the client is gone.
#include <cstdint>
#include <cstdlib>

#include "net/serve/connection.h"
#include "server/worker_host.h"
#include "tests/fuzz/conversation.h"
#include "tests/server/fake_channel.h"
#include "tests/session/fake_backend.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace burn;
  using namespace burn::server;
  using namespace burn::session;
  if (size > 4096) return 0;
  static const auto device = std::make_shared<FakeDevice>();
  static const auto worker = Worker::create(make_fake_backend(device));
  fuzz::Input in{data, size, 12};
  const Quotas quotas{.tensor_bytes = 1 << 22, .tensors = 16, .programs = 8, .program_entries = 36, .in_flight = 16};
  {
    const auto host = std::make_shared<WorkerHost>(WorkerHost::Workers{worker}, quotas);
    const auto connection = std::make_shared<net::Connection>(std::make_shared<FakeChannel>(), host, nullptr);
    fuzz::converse(in, *connection);
    connection->on_closed(ok_status());
    connection->dispose();
  }
  if (device->in_use != 0 || device->shared_donations != 0 || device->largest_request > quotas.tensor_bytes)
    std::abort();
  return 0;
}
