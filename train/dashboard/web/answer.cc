#include "train/dashboard/web/answer.h"

#include <algorithm>
#include <charconv>

#include "train/dashboard/web/json.h"
#include "train/dashboard/web/page.h"

namespace burn::train::dashboard {
namespace {

Answer text(int status, std::string body) { return {.status = status, .body = std::move(body) + "\n"}; }

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Answer stop(std::string_view target, RunBoard& board) {
  const auto run = number(parameter(target, "run"));
  const auto checkpoint = parameter(target, "checkpoint");
  if (!run || (checkpoint != "0" && checkpoint != "1")) return text(400, "expected ?run=NUMBER&checkpoint=0 or 1");
  Stop stop;
  bool is_there = false;
  board.read([&](const auto& runs) {
    is_there = *run < runs.size();
    if (is_there && !runs[*run]->state.end()) stop = runs[*run]->stop;
  });
  if (!is_there) return text(404, "there is no such run");
  if (!stop) return text(409, "this run cannot be stopped from here");
  stop(checkpoint == "1" ? StopRequest::with_checkpoint : StopRequest::without_checkpoint);
  return text(202, "the training stops after this step");
}

Answer page(std::string_view path) {
  if (page_files().empty())
    return text(
        path == "/" ? 200 : 404,
        "This program was built without the dashboard's page, as npm was not there. /api/runs has the numbers.");
  const auto wanted = path == "/" ? std::string_view{"/index.html"} : path;
  for (const auto& file : page_files()) {
    if (file.path == wanted) return {.type = std::string{file.type}, .body = std::string{file.gzip}, .is_gzip = true};
  }
  return text(404, "there is no such page");
}

}  // namespace

std::optional<Answer> answer(const Gate& gate, const RequestHead& head, RunBoard& board) {
  if (const int refused = gate.check(head); refused != 0)
    return text(refused, refused == 401 ? "a token is needed: open the address that the training has printed"
                                        : "this address or origin is not allowed");
  const auto path = head.target.substr(0, head.target.find('?'));
  if (path == "/api/stop") return head.method == "POST" ? stop(head.target, board) : text(405, "POST is expected");
  if (head.method != "GET" && head.method != "HEAD") return text(405, "GET is expected");
  if (path == "/api/events") return std::nullopt;
  if (path == "/api/runs") {
    Answer runs{.type = "application/json"};
    board.read([&](const auto& all) { runs.body = runs_json(all); });
    return runs;
  }
  if (path == "/" && gate.has_token_in_target(head.target)) {  // moves the token from the URL to a cookie
    Answer found{.status = 303};
    found.location.push_back('/');
    found.cookie = "burn_dashboard=" + gate.token + "; Path=/; HttpOnly; SameSite=Strict";
    return found;
  }
  return page(path);
}

std::vector<std::size_t> runs_in(std::string_view target) {
  constexpr std::size_t kMaxRuns = 64;
  std::vector<std::size_t> runs;
  const auto list = parameter(target, "runs");
  std::string_view rest = list;
  while (!rest.empty() && runs.size() < kMaxRuns) {
    const auto end = rest.find(',');
    const auto run = number(rest.substr(0, end));
    if (run && std::find(runs.begin(), runs.end(), *run) == runs.end()) runs.push_back(*run);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return runs;
}

}  // namespace burn::train::dashboard
