// Sending over a WebSocket, in steps of any size.
#include "net/transport/ws_outbox.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

namespace burn::net::ws {
namespace {

TEST(WsOutbox, HandsOutEverythingOnceInAnySteps) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1} << 20}) {
    Outbox outbox(Role::server);
    std::string expected;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::string header = "header" + std::to_string(i);
      const std::string payload(i * 50, 'p');
      outbox.add({header, SharedBytes::own(std::vector<char>(payload.begin(), payload.end()))});
      expected += make_header(Opcode::binary, header.size() + payload.size(), Role::server) + header + payload;
      outbox.add_raw("raw");
      expected += "raw";
    }
    std::string got;
    while (!outbox.empty()) {
      std::array<iovec, Outbox::kMaxParts> parts;
      const std::size_t most = 2 * step + 1;
      const std::size_t count = outbox.parts(parts, most);
      ASSERT_GT(count, 0u);
      std::size_t offered = 0;
      for (std::size_t k = 0; k < count; ++k) offered += parts[k].iov_len;
      ASSERT_LE(offered, most);
      std::size_t taken = 0;
      for (std::size_t k = 0; k < count && taken < step; ++k) {
        const std::size_t part = std::min(parts[k].iov_len, step - taken);
        got.append(static_cast<const char*>(parts[k].iov_base), part);
        taken += part;
      }
      outbox.consume(taken);
    }
    EXPECT_TRUE(got == expected) << step;
  }
}

TEST(WsOutbox, LetsGoOfPayloadsThatAreGone) {
  Outbox outbox(Role::server);
  const auto owner = std::make_shared<std::vector<std::byte>>(100);
  outbox.add({"h", SharedBytes{owner, *owner}});
  outbox.add({"h", {}});
  outbox.consume(102);
  EXPECT_EQ(owner.use_count(), 2);
  outbox.consume(1);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_FALSE(outbox.empty());
}

}  // namespace
}  // namespace burn::net::ws
