// A worker in a program of one's own, with a kind of device that the program brings along.
#include <cstdlib>
#include <iostream>

#include <burn/backends/registry.h>
#include <burn/compile/rewrite/decompose.h>
#include <burn/server/server.h>

using namespace burn;

int main() {
  backends::register_backend({.name = "mine", .open = [](int) { return backends::open_backend("null"); }});
  const server::Server worker({.device = "mine", .ws = "127.0.0.1:0"});
  for (const auto& url : worker.urls()) std::cout << url << '\n';
  return worker.urls().size() == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
