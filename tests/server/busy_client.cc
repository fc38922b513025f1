// A client that never stops: for tests that stop it. Usage: busy_client URL [ELEMENTS]. Prints "ready" once the server
// works for it. It holds 16 MiB and runs sums of ELEMENTS f32, by default of 16 MiB: with fewer, a slow device is soon
// done with the runs that are in flight when the client ends.
#include <cstdio>
#include <cstdlib>

#include "net/remote/remote_session.h"
#include "tests/session/programs.h"

int main(int argc, char** argv) {
  using namespace burn;
  constexpr std::int64_t kHeld = std::int64_t{4} << 20;  // 16 MiB
  const std::int64_t size = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : kHeld;
  const auto session = value_or_throw(net::connect(argv[1]));
  throw_if_error(session->define(1, session::add_program({size}), {}));
  throw_if_error(session->write(0, session::tensor({kHeld}, std::vector<float>(kHeld))));
  throw_if_error(session->write(1, session::tensor({size}, std::vector<float>(size))));
  throw_if_error(session->run({.program = 1, .inputs = {1, 1}, .first_output = 2}));
  session->sync([](Status status) {
    std::puts(status.ok() ? "ready" : status.message().c_str());
    std::fflush(stdout);
  });
  for (proto::TensorId id = 2;; ++id) {
    if (!session->run({.program = 1, .inputs = {id, 1}, .first_output = id + 1, .release = {id}}).ok()) return 1;
  }
}
