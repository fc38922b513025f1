// Serves the runs of a board to browsers: one page and, over server-sent events, what becomes of the runs.
#pragma once

#include <memory>
#include <string>

#include "train/dashboard/run_board.h"
#include "train/dashboard/web/address.h"

namespace burn::train::dashboard {

struct WebOptions {
  Address address;
  // Asked of every request. Empty: none on loopback; elsewhere one is made, and is in url().
  std::string token;
};

// One thread, from construction to destruction. At most 16 connections; a request is 8 KiB at most and has 30 seconds.
//
//   GET  /                       the page; with ?token=T where one is asked for
//   GET  /api/runs               the table of runs, JSON
//   GET  /api/events?runs=0,2    server-sent events: "runs", and "curves" of these runs (web/json.h)
//   POST /api/stop?run=0&checkpoint=1    1: with a checkpoint, 0: without
class WebServer {
 public:
  static constexpr int kMaxConnections = 16;

  // `board` outlives this. Errors (thrown): UNAVAILABLE naming the address, where it cannot be listened to.
  WebServer(const WebOptions& options, RunBoard& board);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // What to open in a browser; with the port that the system chose, and the token.
  const std::string& url() const;

 private:
  struct Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace burn::train::dashboard
