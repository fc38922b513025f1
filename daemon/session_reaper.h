// A thread that disposes of connections and sessions that have ended. Disposing of a session waits for the run that it
// executes; with this thread, no other thread has to wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "net/serve/connection.h"
#include "net/serve/session_host.h"

namespace burn::daemon {

using Conversations = std::vector<std::shared_ptr<net::ServedConversation>>;

// Thread-safe.
class SessionReaper {
 public:
  // `host`: its log gets a line for each session that expires. Errors (thrown): std::system_error if the thread cannot
  // be started.
  explicit SessionReaper(std::shared_ptr<net::SessionHost> host);
  ~SessionReaper();  // stop()
  SessionReaper(const SessionReaper&) = delete;
  SessionReaper& operator=(const SessionReaper&) = delete;

  // Takes over a connection that receives nothing more, and its session if that has ended.
  void add(std::shared_ptr<net::Connection> ended);
  // Takes over sessions whose lease has expired.
  void add_expired(Conversations sessions);

  // The number of connections that are not disposed of yet.
  std::size_t connections() const;
  // Disposes of everything that was added, and ends the thread. Only one thread may call it at a time.
  void stop();

  // For each session: logs `why`, makes the host count the end, and disposes of it, on the calling thread.
  static void dispose(const Conversations& sessions, net::SessionEnd how, std::string_view why, net::SessionHost& host);

 private:
  void run();

  const std::shared_ptr<net::SessionHost> host_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<net::Connection>> ended_;  // Guarded by `mutex_`.
  Conversations expired_;                               // Guarded by `mutex_`.
  std::size_t disposing_ = 0;                           // connections; guarded by `mutex_`.
  bool is_stopping_ = false;                            // Guarded by `mutex_`.
  std::thread thread_;
};

}  // namespace burn::daemon
