#include "backends/collective/exchange.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "backends/interrupt.h"

namespace burn::backends {
namespace {

constexpr std::size_t kMaxPieces = 64;                   // iovecs in one system call
constexpr std::size_t kMaxReason = 1024;                 // bytes of the message that is sent instead of numbers
constexpr std::size_t kDropped = 64 << 10;               // buffer size for received bytes that are dropped
constexpr std::chrono::milliseconds kInterruptPoll{20};  // how often a waiting thread checks for an interrupt

// Sent before the numbers of each part. Little-endian, as all supported machines are.
struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t code = 0;  // StatusCode; not ok: a reason follows, and no numbers
  std::uint64_t number = 0;
  std::uint64_t what = 0;
  std::uint64_t size = 0;  // bytes that follow

  static constexpr std::uint32_t kMagic = 0x4c4f4342;
};
static_assert(sizeof(Header) == 32);

std::string reason_of(const Failure& failed) { return failed->message().substr(0, kMaxReason); }

class Outgoing {
 public:
  Outgoing(const Round& round, const StripRange& range) : range_(range) {
    if (round.failed) {
      range_ = {};
      reason_ = reason_of(round.failed);
      header_.code = static_cast<std::uint32_t>(round.failed->code());
    }
    header_.number = round.number;
    header_.what = round.what;
    header_.size = round.failed ? reason_.size() : range_.bytes();
  }

  bool is_done() const { return done_ == sizeof header_ + header_.size; }

  // Sends as much as possible without waiting; returns whether any byte was sent.
  Result<bool> transfer_some(Links& links, int peer, std::vector<iovec>& places) {
    if (is_done()) return false;
    places.clear();
    if (done_ < sizeof header_)
      places.push_back({reinterpret_cast<std::byte*>(&header_) + done_, sizeof header_ - done_});
    const auto sent = done_ - std::min(done_, sizeof header_);
    if (header_.code != 0) {
      places.push_back({reason_.data() + sent, reason_.size() - sent});
    } else {
      range_.append_places(sent, kMaxPieces, places);
    }
    BURN_TRY(const auto bytes, links.send(peer, places));
    done_ += bytes;
    return bytes > 0;
  }

 private:
  StripRange range_;
  std::string reason_;
  Header header_;
  std::size_t done_ = 0;
};

class Incoming {
 public:
  explicit Incoming(const StripRange& range) : range_(range) {}

  bool is_done() const { return done_ >= sizeof header_ && done_ == sizeof header_ + header_.size; }
  std::optional<Status> failure() const {
    if (header_.code == 0) return std::nullopt;
    return Status{static_cast<StatusCode>(header_.code), reason_};
  }

  Result<bool> transfer_some(Links& links, int peer, const Round& round, std::vector<iovec>& places,
                             std::vector<std::byte>& dropped) {
    if (is_done()) return false;
    places.clear();
    if (done_ < sizeof header_) {
      places.push_back({reinterpret_cast<std::byte*>(&header_) + done_, sizeof header_ - done_});
      BURN_TRY(const auto bytes, links.receive(peer, places));
      done_ += bytes;
      if (done_ == sizeof header_) BURN_RETURN_IF_ERROR(check(peer, round));
      return bytes > 0;
    }
    const auto received = done_ - sizeof header_;
    if (header_.code != 0) {
      places.push_back({reason_.data() + received, reason_.size() - received});
    } else if (range_.strip.data) {
      range_.append_places(received, kMaxPieces, places);
    } else {
      dropped.resize(kDropped);
      places.push_back({dropped.data(), std::min(dropped.size(), header_.size - received)});
    }
    BURN_TRY(const auto bytes, links.receive(peer, places));
    done_ += bytes;
    return bytes > 0;
  }

 private:
  Status check(int peer, const Round& round) {
    if (header_.magic != Header::kMagic || header_.code > static_cast<std::uint32_t>(StatusCode::unauthenticated))
      return invalid_argument(fmt::format("what member {} sends makes no sense", peer));
    if (header_.number != round.number || header_.what != round.what) {
      return failed_precondition(
          fmt::format("member {} performs another collective than this one, or in another order", peer));
    }
    const auto due = header_.code != 0 ? kMaxReason : range_.bytes();
    if (header_.code != 0 ? header_.size > due : header_.size != due)
      return invalid_argument(fmt::format("member {} sends {} bytes where {} are due", peer, header_.size, due));
    if (header_.code != 0) reason_.resize(header_.size);
    return {};
  }

  StripRange range_;
  std::string reason_;
  Header header_;
  std::size_t done_ = 0;
};

// Why the run of this thread is interrupted; ok if it is not.
Status interrupted() {
  const auto* interrupt = InterruptScope::current();
  return interrupt && interrupt->is_due() ? interrupt->why() : Status{};
}

}  // namespace

Result<std::optional<MemberFailure>> exchange(Links& links, const Round& round) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const auto& part : round.parts) {
    outgoing.emplace_back(round, part.to_send);
    incoming.emplace_back(part.to_receive);
  }
  std::vector<iovec> places;
  std::vector<std::byte> dropped;
  std::vector<Links::Wanted> wanted(round.parts.size());
  while (true) {
    bool moved = false, waits = false;
    for (int peer = 0; peer < links.size(); ++peer) {
      if (peer == links.rank()) continue;
      const auto p = static_cast<std::size_t>(peer);
      BURN_TRY(const bool sent, outgoing[p].transfer_some(links, peer, places));
      BURN_TRY(const bool received, incoming[p].transfer_some(links, peer, round, places, dropped));
      wanted[p] = {!outgoing[p].is_done(), !incoming[p].is_done()};
      moved |= sent || received;
      waits |= wanted[p].to_send || wanted[p].to_receive;
    }
    if (!waits) break;
    if (moved) continue;
    if (auto why = interrupted(); !why.ok()) {
      std::string missing;
      for (std::size_t p = 0; p < wanted.size(); ++p) {
        if (wanted[p].to_send || wanted[p].to_receive) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", p);
      }
      return Status{why.code(), fmt::format("{}; it was waiting for member {}", why.message(), missing)};
    }
    BURN_RETURN_IF_ERROR(links.wait(wanted, kInterruptPoll));
  }
  for (int rank = 0; rank < links.size(); ++rank) {
    if (rank == links.rank()) {
      if (round.failed) return std::optional(MemberFailure{rank, {round.failed->code(), reason_of(round.failed)}});
    } else if (auto why = incoming[static_cast<std::size_t>(rank)].failure()) {
      return std::optional(MemberFailure{rank, *std::move(why)});
    }
  }
  return std::optional<MemberFailure>{};
}

}  // namespace burn::backends
