// A misbehaving member of a group: it sends back the bytes that it receives, changed as the input says. The other
// member must end each collective with a result or a failure.
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "backends/collective/direct_collective.h"
#include "backends/interrupt.h"
#include "tests/fuzz/input.h"
#include "tests/support/simulated_links.h"

namespace burn::testing {
namespace {

using fuzz::Input;

// Performs collectives of several rounds, until the group fails.
void perform_all(std::unique_ptr<backends::Links> links) {
  const auto member = backends::make_direct_collective(std::move(links), {.piece = 64, .small = 16});
  backends::Interrupt interrupt;
  interrupt.begin_run(std::chrono::seconds{60});
  const backends::InterruptScope scope(&interrupt);
  std::vector<std::byte> x(128), y(256);
  const ir::TensorType type{ir::DType::f32, {32}};
  if (!member->perform({ir::AllReduce{}, type, x, std::span(y).first(128)}).ok()) return;
  const ir::Op gather = ir::AllGather{0, {32, 32}, 0};
  if (!member->perform({gather, type, x, y}).ok() && member->health().ok()) {
    // The peer has reported a failure that did not happen: the group is still usable.
    (void)member->perform({ir::AllReduce{}, type, x, std::span(y).first(128)});
  }
  if (interrupt.is_due()) std::abort();  // it hung
}

// Changes `bytes` as the input says. False: the member leaves after sending them.
bool change(Input& in, std::vector<std::byte>& bytes) {
  switch (in.byte() % 8) {
    case 0:
      if (!bytes.empty()) bytes[in.byte() % bytes.size()] ^= static_cast<std::byte>(1 + in.byte() % 255);
      return true;
    case 1:
      bytes.resize(in.byte() % (bytes.size() + 1));
      return false;
    case 2:
      for (const char c : in.text()) bytes.push_back(static_cast<std::byte>(c));
      return true;
    default:
      return true;
  }
}

void answer(Input& in, backends::Links& links) {
  const std::vector<backends::Links::Wanted> to_receive{{.to_receive = true}, {}}, to_send{{.to_send = true}, {}};
  std::vector<std::byte> bytes(256);
  while (true) {
    // If the other member waits for more bytes than it was sent, none arrive: end.
    if (!links.wait(to_receive, std::chrono::milliseconds{1}).ok()) return;
    const iovec place{bytes.data(), bytes.size()};
    const auto got = links.receive(0, {&place, 1});
    if (!got.ok() || *got == 0) return;
    std::vector<std::byte> back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*got));
    const bool stays = in.empty() || change(in, back);
    for (std::size_t done = 0; done < back.size();) {
      const iovec rest{back.data() + done, back.size() - done};
      const auto sent = links.send(0, {&rest, 1});
      if (!sent.ok() || !links.wait(to_send, std::chrono::seconds{10}).ok()) return;
      done += *sent;
    }
    if (!stays) return;
  }
}

}  // namespace
}  // namespace burn::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 256) return 0;
  burn::fuzz::Input in{data, size, 16};
  burn::testing::SimulatedGroup group(2);
  auto peer = group.links(1);
  std::thread member([&] { burn::testing::perform_all(group.links(0)); });
  burn::testing::answer(in, *peer);
  peer->leave(burn::backends::member_left(1));
  member.join();
  return 0;
}
