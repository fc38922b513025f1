#include "net/transport/io_threads.h"

#include <exception>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <openssl/crypto.h>

namespace burn::net {

namespace asio = boost::asio;

namespace {

// What a callback throws is that callback's; the loop goes on for the others.
void run(IoContext& context) {
  for (;;) {
    try {
      context.run();
      return;
    } catch (const std::exception&) {
    }
  }
}

}  // namespace

IoThreads::IoThreads(int threads) {
  // The handshake needs it (ws_handshake.cc). What OpenSSL notes about the thread that starts it is freed with nothing
  // but the process: so the caller's thread does, and not one of these, which end.
  OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr);
  using Guard = asio::executor_work_guard<IoContext::executor_type>;
  for (int i = 0; i < threads; ++i) {
    auto context = std::make_shared<IoContext>(1);  // 1: a hint that one thread runs it
    auto work = std::make_shared<Guard>(asio::make_work_guard(*context));
    try {
      loops_.push_back({context, work, std::thread([context] { run(*context); })});
    } catch (const std::exception&) {  // the system has no more threads: those there are do it
      if (loops_.empty()) throw;
    }
  }
}

IoThreads::~IoThreads() {
  for (Loop& loop : loops_) loop.work.reset();
  for (Loop& loop : loops_) loop.thread.join();
}

const std::shared_ptr<IoContext>& IoThreads::next() {
  return loops_[turn_.fetch_add(1, std::memory_order_relaxed) % loops_.size()].context;
}

void IoThreads::post(std::function<void()> work) { asio::post(*first(), std::move(work)); }

}  // namespace burn::net
