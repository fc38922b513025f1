// Starts the library's own threads.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace burn {

// Scoped: blocks all signals but those that this thread causes itself, also for threads that it starts.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int caused : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) sigdelset(&signals, caused);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// Starts a thread. Its name (15 characters at most) is shown by `top -H`. It blocks signals: the program's own threads
// handle them, and a handler that runs on a thread within oneDNN 2.6.3 (Debian 12's dnnl_sgemm) overwrites the heap.
// Errors (thrown): std::system_error, as std::thread.
template <typename Body>
std::thread start_thread(const char* name, Body&& body) {
  const SignalsBlocked blocked;
  return std::thread([name, body = std::forward<Body>(body)]() mutable {
    pthread_setname_np(pthread_self(), name);
    body();
  });
}

}  // namespace burn
