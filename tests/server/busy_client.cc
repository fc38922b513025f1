// A client that never stops: for tests that stop it. Usage: busy_client URL. Says "ready" once the server works for it.
#include <cstdio>

#include "net/remote/remote_session.h"
#include "tests/session/programs.h"

int main(int, char** argv) {
  using namespace burn;
  constexpr std::int64_t kSize = std::int64_t{4} << 20;  // 16 MiB
  const auto session = value_or_throw(net::connect(argv[1]));
  throw_if_error(session->define(1, session::add_program({kSize}), {}));
  throw_if_error(session->write(1, session::tensor({kSize}, std::vector<float>(kSize))));
  throw_if_error(session->run({.program = 1, .inputs = {1, 1}, .first_output = 2}));
  session->sync([](Status status) {
    std::puts(status.ok() ? "ready" : status.message().c_str());
    std::fflush(stdout);
  });
  for (proto::TensorId id = 2;; ++id) {
    if (!session->run({.program = 1, .inputs = {id, 1}, .first_output = id + 1, .release = {id}}).ok()) return 1;
  }
}
