#include "daemon/operator_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/status.h"
#include "daemon/operator/client.h"

namespace burn::daemon {
namespace {

struct Command {
  std::string_view name, of;  // "probe", "ready"; of: the subcommand, if any
  std::string_view method, path;
  std::string_view about = {}, path_end = {};  // name of the argument that is put between path and path_end
};

// Without a subcommand the first command of that name is used.
constexpr std::array kCommands{
    Command{"probe", "ready", "GET", "/readyz"},
    Command{"probe", "health", "GET", "/healthz"},
    Command{"probe", "startup", "GET", "/startupz"},
    Command{"status", "", "GET", "/status"},
    Command{"drain", "", "POST", "/drain"},
    Command{"log-level", "", "POST", "/log-level?level=", "LEVEL"},
    Command{"close", "", "POST", "/sessions/", "SESSION", "/close"},
};

struct Arguments {
  const Command* command = nullptr;
  std::string about = {};
  std::string address{kDefaultOperatorAddress};
  std::chrono::seconds timeout{2};
};

const Command* find(std::string_view name, std::string_view of) {
  for (const auto& command : kCommands) {
    if (command.name == name && (of.empty() || command.of == of)) return &command;
  }
  return nullptr;
}

Result<Arguments> parse(std::span<const char* const> words) {
  Arguments arguments{.command = find(words.front(), "")};
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string_view word = words[k];
    const bool is_flag = word == "--operator" || word == "--timeout";
    if (is_flag && k + 1 == words.size()) return invalid_argument(fmt::format("{} needs a value", word));
    if (word == "--operator") {
      arguments.address = words[++k];
    } else if (word == "--timeout") {
      const std::string_view text = words[++k];
      int seconds = 0;
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
      if (error != std::errc{} || rest != text.data() + text.size() || seconds < 1 || seconds > 3600) {
        return invalid_argument(fmt::format("--timeout: \"{}\" is not a whole number from 1 to 3600", text));
      }
      arguments.timeout = std::chrono::seconds{seconds};
    } else if (k == 1 && !arguments.command->about.empty()) {
      arguments.about = word;
    } else if (const auto* command = find(words.front(), word); k == 1 && command && !command->of.empty()) {
      arguments.command = command;
    } else {
      return invalid_argument(fmt::format("\"{}\" makes no sense after {}", word, words.front()));
    }
  }
  const auto& command = *arguments.command;
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  const bool is_fine =
      command.about.empty() || (!arguments.about.empty() && std::ranges::all_of(arguments.about, is_part));
  if (!is_fine) return invalid_argument(fmt::format("{} {}: of a-z, 0-9 and -", command.name, command.about));
  return arguments;
}

int fail(std::string_view program, std::string_view command, const std::string& why, int code) {
  std::fprintf(stderr, "%s\n", fmt::format("{} {}: {}", program, command, why).c_str());
  return code;
}

}  // namespace

std::string operator_commands_help(std::string_view program) {
  return fmt::format(
      "Commands, for a {0} that runs with --operator (here: {1}):\n"
      "  {0} probe [ready|health|startup] [--operator ADDRESS] [--timeout SECONDS]   exit code 0: yes\n"
      "  {0} status [--operator ADDRESS]   what it does, as JSON\n"
      "  {0} drain [--operator ADDRESS]    has it end as by SIGTERM\n"
      "  {0} log-level LEVEL [--operator ADDRESS]   until it ends, or is told otherwise\n"
      "  {0} close SESSION [--operator ADDRESS]     ends a session, by its name in the log\n",
      program, kDefaultOperatorAddress);
}

std::optional<int> run_operator_command(std::string_view program, int argc, const char* const* argv) {
  if (argc < 2 || !find(argv[1], "")) return std::nullopt;
  const auto arguments = parse({argv + 1, argv + argc});
  if (!arguments.ok()) return fail(program, argv[1], arguments.status().message(), 2);
  const auto& command = *arguments->command;
  const auto answer =
      ask_operator(arguments->address, command.method,
                   fmt::format("{}{}{}", command.path, arguments->about, command.path_end), arguments->timeout);
  if (!answer.ok()) return fail(program, argv[1], answer.status().message(), EXIT_FAILURE);
  const bool is_yes = answer->status == 200 || answer->status == 202;
  std::fputs(answer->body.c_str(), is_yes ? stdout : stderr);
  return is_yes ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace burn::daemon
