// A request to the browser's dashboard, as lines: target, method, Host, Origin, Cookie, Authorization. What the gate
// refuses changes nothing and is told nothing; a training is stopped by POST alone; whatever is answered is HTTP.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/train/events/made_up_run.h"
#include "train/dashboard/web/answer.h"

using namespace burn::train;
using namespace burn::train::dashboard;

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest{reinterpret_cast<const char*>(data + 1), size - 1};
  if (const auto address = parse_address(rest); address.ok())
    expect(to_string(*parse_address(to_string(*address))) == to_string(*address));
  std::array<std::string_view, 6> lines;
  for (auto& line : lines) {
    const auto end = rest.find('\n');
    line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  const RequestHead head{.method = lines[1],
                         .target = lines[0],
                         .host = lines[2],
                         .origin = lines[3],
                         .cookie = lines[4],
                         .authorization = lines[5]};
  Gate gate{{"127.0.0.1", 6006, true}, ""};
  if ((data[0] & 2) != 0) gate = {{"0.0.0.0", 6006, false}, "secret"};

  int stops = 0;
  RunBoard board;
  BoardRun run;
  for (const auto& event : events::made_up_run(1)) run.state.add(event);
  run.stop = [&](StopRequest) { ++stops; };
  board.add(std::move(run));
  const int refused = gate.check(head);
  const auto reply = answer(gate, head, board);
  if (refused != 0) expect(reply && reply->status == refused && reply->cookie.empty());
  expect(stops == (reply && reply->status == 202 ? 1 : 0));
  expect(stops == 0 || head.method == "POST");
  if (!head.origin.empty() && head.origin != "http://" + std::string{head.host}) expect(refused == 403);
  if (!reply) expect(runs_in(head.target).size() <= 64);
  if (reply) expect(reply->status >= 200 && reply->status < 600);
  return 0;
}
