// Answers requests of the dashboard. Independent of sockets.
#pragma once

#include <optional>
#include <string>

#include "train/dashboard/run_board.h"
#include "train/dashboard/web/address.h"

namespace burn::train::dashboard {

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  bool is_gzip = false;
  std::string cookie = {};    // cookie to set; empty: none
  std::string location = {};  // target of a redirection
};

// Returns std::nullopt for GET /api/events, which is answered by a stream of events.
std::optional<Answer> answer(const Gate& gate, const RequestHead& head, RunBoard& board);

// The runs of ?runs=0,2: at most 64, each once.
std::vector<std::size_t> runs_in(std::string_view target);

// A header of every answer: the page loads nothing from other origins, and other pages cannot frame it.
inline constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace burn::train::dashboard
