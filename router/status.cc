#include "router/status.h"

#include <cstdio>
#include <cstdlib>
#include <future>

#include <fmt/format.h>

#include "base/one_line.h"
#include "daemon/tokens.h"
#include "net/remote/remote_session.h"

namespace burn::router {
namespace {

constexpr const char* kUsage =
    "usage: burn-router status [--json] [--device URL] [--token-file PATH]\n"
    "  --json             one line of JSON\n"
    "  --device URL       of the router (default: ws://127.0.0.1:3000)\n"
    "  --token-file PATH  a file with a token that the router knows (default: the setting BURN_TOKEN)\n";

// A JSON string. Text of a worker is already limited to one line.
std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20)); }

struct Arguments {
  bool as_json = false, help = false;
  std::string url = "ws://127.0.0.1:3000", token_file;
};

Result<Arguments> parse(const std::vector<std::string>& texts) {
  Arguments arguments;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const auto& text = texts[k];
    auto* value = text == "--device" ? &arguments.url : text == "--token-file" ? &arguments.token_file : nullptr;
    if (text == "--json") {
      arguments.as_json = true;
    } else if (text == "--help" || text == "-h") {
      arguments.help = true;
    } else if (!value) {
      return invalid_argument(fmt::format("{} is not known", quoted(text)));
    } else if (k + 1 == texts.size()) {
      return invalid_argument(fmt::format("{} needs a value", text));
    } else {
      *value = texts[++k];
    }
  }
  return arguments;
}

Result<std::string> status(const Arguments& arguments) {
  std::string token;
  if (!arguments.token_file.empty()) {
    BURN_TRY(const auto tokens, daemon::read_token_file(arguments.token_file));
    token = tokens.front();
  }
  BURN_TRY(const auto members, ask_status(arguments.url, token));
  return arguments.as_json ? status_json(members) + "\n" : status_text(members);
}

}  // namespace

std::string status_text(const std::vector<proto::MemberStats>& members) {
  std::size_t width = 6;
  for (const auto& member : members) width = std::max(width, member.name.size());
  auto text = fmt::format("{:<{}}  state  weight  sessions  memory MiB  runs  busy s\n", "member", width);
  for (const auto& member : members) {
    text += fmt::format("{:<{}}  {:<5}  {:<6}  {:>8}  {:>10}  {:>4}  {:>6.1f}\n", one_line(member.name), width,
                        member.lost.empty() ? "up" : "lost", member.weight, member.sessions,
                        mebibytes(member.device.memory_in_use), member.device.runs, member.device.busy_seconds);
    if (!member.lost.empty()) text += fmt::format("  {}\n", one_line(member.lost));
  }
  return text;
}

std::string status_json(const std::vector<proto::MemberStats>& members) {
  std::string text = "{\"members\": [";
  for (const auto& member : members) {
    if (text.back() == '}') text += ", ";
    text += fmt::format(
        "{{\"name\": {}, \"url\": {}, \"state\": \"{}\", \"why\": {}, \"weight\": {}, \"sessions\": {}, "
        "\"memory_in_use\": {}, \"memory_limit\": {}, \"runs\": {}, \"busy_seconds\": {}}}",
        json(member.name), json(member.url), member.lost.empty() ? "up" : "lost", json(member.lost), member.weight,
        member.sessions, member.device.memory_in_use, member.device.memory_limit, member.device.runs,
        member.device.busy_seconds);
  }
  return text + "]}";
}

Result<std::vector<proto::MemberStats>> ask_status(const std::string& url, const std::string& token) {
  net::ConnectOptions options;
  options.token = token;
  options.lease_seconds = 0;
  options.device_name = "status";
  BURN_TRY(const auto session, net::connect(url, options));
  if (session->info().role != "router")
    return failed_precondition(fmt::format("{} is {}, which is no router", url, session->info().server));
  std::promise<Result<proto::SessionStats>> promise;
  session->stats([&](const Result<proto::SessionStats>& stats) { promise.set_value(stats); });
  BURN_TRY(auto stats, promise.get_future().get());
  return std::move(stats.members);
}

int run_status(const std::vector<std::string>& texts) {
  const auto arguments = parse(texts);
  if (arguments.ok() && arguments->help) {
    std::fputs(kUsage, stdout);
    return EXIT_SUCCESS;
  }
  const auto text = arguments.ok() ? status(*arguments) : Result<std::string>{arguments.status()};
  if (text.ok()) {
    std::fputs(text->c_str(), stdout);
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "burn-router status: %s\n", text.status().message().c_str());
  if (!arguments.ok()) std::fputs(kUsage, stderr);
  return EXIT_FAILURE;
}

}  // namespace burn::router
