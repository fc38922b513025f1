// Serves the runs of a board to browsers: one page and, by server-sent events, updates of the runs.
#pragma once

#include <memory>
#include <string>

#include "train/dashboard/run_board.h"
#include "train/dashboard/web/address.h"

namespace burn::train::dashboard {

struct WebOptions {
  Address address;
  // Required of every request. Empty: none on loopback; on other addresses one is generated, and is part of url().
  std::string token;
};

// Runs one thread from construction to destruction. At most 16 connections; a request has at most 8 KiB and takes at
// most 30 seconds.
//
//   GET  /                       the page; with ?token=T if a token is required
//   GET  /api/runs               the table of runs, JSON
//   GET  /api/events?runs=0,2    server-sent events: "runs", and "curves" of these runs (web/json.h)
//   POST /api/stop?run=0&checkpoint=1    1: with a checkpoint, 0: without
class WebServer {
 public:
  static constexpr int kMaxConnections = 16;

  // `board` must outlive this. Errors (thrown): UNAVAILABLE naming the address, if the server cannot listen on it.
  WebServer(const WebOptions& options, RunBoard& board);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // The URL to open in a browser, with the actual port and the token.
  const std::string& url() const;

 private:
  struct Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace burn::train::dashboard
