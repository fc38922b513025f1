// The table of verbs from proto/verbs.def, for code that handles all verbs alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "proto/message.h"

namespace burn::proto {

enum class Sender : std::uint8_t { client, server, both };
enum class Turn : std::uint8_t { connection, ordered, unordered };

namespace verb {
// The words of the columns "close", "size" and "known".
enum class AtClose : std::uint8_t { unawaited, awaited };
enum class Known : std::uint8_t { always, announced };
inline constexpr std::size_t small = std::size_t{64} << 10;    // no lists
inline constexpr std::size_t lists = 28 * kMaxIds + 1024;      // three lists: 10 bytes an id, 8 a scalar
inline constexpr std::size_t program = std::size_t{16} << 20;  // nodes, and ids of programs
inline constexpr std::size_t welcome = std::size_t{16} << 20;  // lists uploads; sent by servers only
}  // namespace verb

struct Verb {
  std::string_view name;
  int field = 0;  // of Envelope
  Sender sender = Sender::both;
  Turn turn = Turn::unordered;
  bool is_awaited = false;    // a closing client waits for its execution
  std::size_t max_bytes = 0;  // of the encoded body; bounds the memory that protobuf needs for a hostile one
  bool is_announced = false;  // a client sends it only to servers that announce it

  constexpr bool is_from_client() const { return sender != Sender::server; }
  constexpr bool is_from_server() const { return sender != Sender::client; }
};

// Indexed by Body::index().
inline constexpr std::array<Verb, std::variant_size_v<Body>> kVerbs = {{
#define BURN_VERB(Body, Message, name, field, sender, turn, close, size, known) \
  {#name,                                                                       \
   field,                                                                       \
   Sender::sender,                                                              \
   Turn::turn,                                                                  \
   verb::AtClose::close == verb::AtClose::awaited,                              \
   verb::size,                                                                  \
   verb::Known::known == verb::Known::announced},
#include "proto/verbs.def"
#undef BURN_VERB
}};

namespace verb {
template <typename Kind, typename... Kinds>
constexpr std::size_t index_in(const std::variant<Kinds...>* /*body*/) {
  std::size_t index = 0;
  (void)((std::is_same_v<Kind, Kinds> || (++index, false)) || ...);
  return index;
}
}  // namespace verb

// The index of `Kind` in kVerbs and in Body.
template <typename Kind>
inline constexpr std::size_t kIndexOf = verb::index_in<Kind>(static_cast<const Body*>(nullptr));
template <typename Kind>
inline constexpr const Verb& kVerbOf = kVerbs[kIndexOf<Kind>];

inline const Verb& verb_of(const Body& body) { return kVerbs[body.index()]; }

// A server's answer to a request outside the queue: has the request's number, and a status.
template <typename Kind>
concept Report = kVerbOf<Kind>.is_announced && kVerbOf<Kind>.sender == Sender::server && requires(const Kind& report) {
  report.request;
  report.status;
};

// The verb of a field of Envelope; null: none.
constexpr const Verb* verb_at(int field) {
  constexpr int kFirst = kVerbs.front().field;
  static_assert(
      [] {
        for (std::size_t k = 0; k < kVerbs.size(); ++k)
          if (kVerbs[k].field != kFirst + static_cast<int>(k)) return false;
        return true;
      }(),
      "verbs.def has a row for each field of Envelope, in their order");
  const auto at = static_cast<std::size_t>(field - kFirst);
  return field >= kFirst && at < kVerbs.size() ? &kVerbs[at] : nullptr;
}

// The bits of Welcome.extensions. Bit k: the server accepts the body with field number k, which the first version 2 did
// not have.
inline constexpr std::uint64_t kExtensions = [] {
  std::uint64_t bits = 0;
  for (const auto& verb : kVerbs)
    if (verb.is_announced && verb.is_from_client()) bits |= std::uint64_t{1} << verb.field;
  return bits;
}();

namespace verb {
template <typename Kind, template <typename> typename Of>
using IfOrdered =
    std::conditional_t<kVerbOf<Kind>.turn == Turn::ordered, std::tuple<std::type_identity<Of<Kind>>>, std::tuple<>>;
template <typename... Types>
std::variant<Types...> variant_of(std::tuple<std::type_identity<Types>...>);
template <template <typename> typename Of, typename... Kinds>
auto ordered(const std::variant<Kinds...>*) -> decltype(variant_of(std::tuple_cat(IfOrdered<Kinds, Of>{}...)));
}  // namespace verb

// std::variant<Of<Kind>...> over the ordered verbs, for queues of calls.
template <template <typename> typename Of>
using OrderedVariant = decltype(verb::ordered<Of>(static_cast<const Body*>(nullptr)));

}  // namespace burn::proto
