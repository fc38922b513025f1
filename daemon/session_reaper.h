// A thread that disposes of connections and sessions that are over. A session's end waits for the run that it executes;
// here no other thread waits for it.
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
  // `host`: whose log has a line for each session that expires. Errors (thrown): std::system_error for no thread.
  explicit SessionReaper(std::shared_ptr<net::SessionHost> host);
  ~SessionReaper();  // stop()
  SessionReaper(const SessionReaper&) = delete;
  SessionReaper& operator=(const SessionReaper&) = delete;

  // Takes over a connection on which nothing more comes, with its session if that is over.
  void add(std::shared_ptr<net::Connection> ended);
  // Takes over sessions whose lease is over.
  void add_expired(Conversations sessions);

  // Connections that are not disposed of yet.
  std::size_t connections() const;
  // Disposes of all that were added, and ends the thread. To be called by one thread at a time.
  void stop();

  // Logs `why` for each of them, has the host count its end, and disposes of it, on this thread.
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
