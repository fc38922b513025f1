#include "proto/message.h"

#include <array>

namespace burn::proto {

bool is_ordered(const Body& body) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return std::is_same_v<Kind, DefineProgram> || std::is_same_v<Kind, RunProgram> || std::is_same_v<Kind, Write> ||
               std::is_same_v<Kind, Read> || std::is_same_v<Kind, Release> || std::is_same_v<Kind, Sync>;
      },
      body);
}

std::string_view name(const Body& body) {
  static constexpr std::array<std::string_view, 14> kNames = {"hello",   "define",  "run",  "write",  "chunk",
                                                              "read",    "release", "sync", "credit", "close",
                                                              "welcome", "ack",     "data", "done"};
  static_assert(kNames.size() == std::variant_size_v<Body>);
  return kNames[body.index()];
}

}  // namespace burn::proto
