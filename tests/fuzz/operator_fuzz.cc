// The bytes of a connection to the operator's port, in whatever pieces they come: it keeps no more than its bound,
// every reply is HTTP, and nothing follows the last one. A peer elsewhere never has the process end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/operator/conversation.h"

using namespace burn::daemon;

namespace {

class Source final : public OperatorSource {
 public:
  explicit Source(bool may_drain) : may_drain_(may_drain) {}

  burn::Status startup() const override { return {}; }
  burn::Status ready() const override { return burn::unavailable("draining"); }
  burn::Status healthy() const override { return {}; }
  void collect(Samples& samples) const override { samples.add(Metric::ready, 1); }
  Report report() const override { return {.tables = {{.name = "t", .columns = {"c"}, .rows = {{true}}}}}; }
  std::string title() const override { return "fuzz 0"; }
  void drain() override {
    if (!may_drain_) std::abort();
  }

 private:
  const bool may_drain_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool is_local = data[0] & 1;
  const std::size_t piece = 1 + std::size_t{data[1]} * (data[0] & 2 ? 1 : 64);
  std::string_view bytes{reinterpret_cast<const char*>(data + 2), size - 2};
  Source source{is_local};
  HttpConversation conversation{source, is_local};
  bool is_over = false;
  while (!bytes.empty()) {
    conversation.add(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const auto reply = conversation.reply()) {
      if (is_over || !reply->bytes.starts_with("HTTP/1.1 ")) std::abort();
      is_over = reply->is_last;
    }
    if (is_over) break;
  }
  (void)conversation.has_begun();
  return 0;
}
