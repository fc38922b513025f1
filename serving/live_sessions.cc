#include "serving/live_sessions.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"

namespace burn::serving {

LiveSessions& LiveSessions::instance() {
  static auto& instances = *new OnePerProcess<LiveSessions>;
  return instances.get();  // the child of a fork() starts with an empty set
}

void LiveSessions::pause_at_end() {
  struct AtThreadEnd {
    ~AtThreadEnd() {
      const bool is_main_thread = ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid));
      if (!is_main_thread) return;
      instance().pause_all();
      wait_for_other_work();
    }
  };
  thread_local const AtThreadEnd at_thread_end;
}

void LiveSessions::add(LiveSession& session) {
  struct AtExit {
    ~AtExit() {
      instance().stop_all();
      wait_for_other_work();  // the libraries' objects are destroyed next
    }
  };
  static const AtExit at_exit;
  pause_at_end();
  const std::lock_guard lock{mutex_};
  all_.insert(&session);
  if (stopped_by_ != std::thread::id{} && stopped_by_ != std::this_thread::get_id()) session.begin_stop();
}

void LiveSessions::remove(LiveSession& session) {
  const std::lock_guard lock{mutex_};
  all_.erase(&session);
}

void LiveSessions::pause_all() {
  const std::lock_guard lock{mutex_};
  for (LiveSession* session : all_) session->pause();
}

void LiveSessions::stop_all() {
  const std::lock_guard lock{mutex_};
  stopped_by_ = std::this_thread::get_id();
  for (LiveSession* session : all_) session->begin_stop();
  for (LiveSession* session : all_) session->stop();
}

}  // namespace burn::serving
