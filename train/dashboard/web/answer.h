// What a request of the dashboard is answered. Knows no socket.
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
  std::string cookie = {};    // to be set; empty: none
  std::string location = {};  // of a redirection
};

// Nothing for what is answered by a stream of events: GET /api/events.
std::optional<Answer> answer(const Gate& gate, const RequestHead& head, RunBoard& board);

// The runs of ?runs=0,2: at most 64, no one twice.
std::vector<std::size_t> runs_in(std::string_view target);

// The headers that every answer has: nothing from elsewhere is loaded, nothing elsewhere frames the page.
inline constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace burn::train::dashboard
