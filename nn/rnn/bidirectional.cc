#include "nn/rnn/bidirectional.h"

#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::nn::detail {

using client::Site;
using client::Value;

std::vector<Value> direction(const std::vector<Value>& state, std::int64_t which, const Site& site) {
  std::vector<Value> parts;
  for (const Value& both : state) {
    client::fail_if_empty(both, "the state of both directions", site);
    if (both.rank() != 3 || both.dim(0) != 2) {
      client::fail("the state of both directions is " + ir::to_string(both.type()) + ", must be [2, batch, d_hidden]",
                   site);
    }
    parts.push_back(client::squeeze(client::narrow(both, 0, which, 1, site), {0}, site));
  }
  return parts;
}

RecurrentValues both_directions(const RecurrentValues& forward, const RecurrentValues& reverse, const Site& site) {
  const Value side_by_side[] = {forward.states, reverse.states};
  RecurrentValues result{client::concat(side_by_side, 2, site), {}};
  for (std::size_t i = 0; i < forward.last.size(); ++i) {
    const Value both[] = {forward.last[i], reverse.last[i]};
    result.last.push_back(client::stack(both, 0, site));
  }
  return result;
}

}  // namespace burn::nn::detail
