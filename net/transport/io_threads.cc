#include "net/transport/io_threads.h"

#include <algorithm>
#include <exception>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/thread.h"
#include "base/time_slice.h"
#include "net/transport/start_openssl.h"

namespace burn::net {

namespace asio = boost::asio;

namespace {

// A callback's exception must not stop the loop, which serves other sockets.
void run(IoContext& context) {
  request_time_slice(TimeSlice::brief);
  for (;;) {
    try {
      context.run();
      return;
    } catch (const std::exception&) {
    }
  }
}

}  // namespace

IoThreads::IoThreads(int most) : most_(most) {
  start_openssl();  // the handshake needs it (ws_handshake.cc)
  start_one();
}

IoThreads::~IoThreads() {
  for (Loop& loop : loops_) loop.work.reset();
  for (Loop& loop : loops_) loop.thread.join();
}

void IoThreads::start_one() {
  using Guard = asio::executor_work_guard<IoContext::executor_type>;
  loops_.reserve(loops_.size() + 1);              // must not fail after the thread has started
  auto context = std::make_shared<IoContext>(1);  // 1: a hint that one thread runs it
  auto work = std::make_shared<Guard>(asio::make_work_guard(*context));
  std::thread thread = start_thread("burn-io", [context] { run(*context); });
  loops_.push_back({std::move(context), std::move(work), std::move(thread)});
}

// Each socket on the loop holds its context.
long IoThreads::users_of(const Loop& loop) { return loop.context.use_count(); }

std::shared_ptr<IoContext> IoThreads::next() {
  const std::lock_guard lock{mutex_};
  const auto least = [&] { return std::ranges::min_element(loops_, {}, users_of); };
  constexpr long kUnused = 2;  // owners of an unused loop's context: loops_ and its thread
  if (users_of(*least()) > kUnused && std::ssize(loops_) < most_) {
    try {
      start_one();
    } catch (const std::exception&) {  // no more threads: the existing ones serve it
    }
  }
  return least()->context;
}

std::shared_ptr<IoContext> IoThreads::first() {
  const std::lock_guard lock{mutex_};
  return loops_.front().context;
}

void IoThreads::post(std::function<void()> work) { asio::post(*first(), std::move(work)); }

}  // namespace burn::net
