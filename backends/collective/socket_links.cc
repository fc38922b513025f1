#include "backends/collective/socket_links.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace burn::backends {
namespace {

using std::chrono::milliseconds;

// What a member sends back on a connection when it ends the group: a code, the size of a text, and the text.
constexpr std::size_t kHead = 8, kMaxText = 1024;
// How long a peer's reason is waited for once its connection has ended: the peer sends it before it ends the
// connection.
constexpr milliseconds kLastWords{200};

std::string encode(const Status& why) {
  const auto text = why.message().substr(0, kMaxText);
  const std::array<std::uint32_t, 2> head{static_cast<std::uint32_t>(why.code()),
                                          static_cast<std::uint32_t>(text.size())};
  std::string bytes(kHead, '\0');
  std::memcpy(bytes.data(), head.data(), kHead);
  return bytes + text;
}

class SocketLinks final : public Links {
 public:
  SocketLinks(int rank, std::vector<PeerSockets> peers, UniqueFd wake)
      : rank_(rank), peers_(std::move(peers)), wake_(std::move(wake)), said_(peers_.size()), silent_(peers_.size()) {}
  ~SocketLinks() override { end(member_left(rank_), {}); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }

  Result<std::size_t> send(int peer, std::span<const iovec> bytes) override {
    return transfer(peer, bytes, [&](msghdr& message) {
      return ::sendmsg(at(peer).to.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    });
  }

  Result<std::size_t> receive(int peer, std::span<const iovec> places) override {
    return transfer(peer, places, [&](msghdr& message) {
      const auto got = ::recvmsg(at(peer).from.get(), &message, MSG_DONTWAIT);
      if (got == 0) errno = ECONNRESET;  // the peer has closed the connection
      return got == 0 ? -1 : got;
    });
  }

  Status wait(std::span<const Wanted> wanted, milliseconds most) override {
    std::vector<pollfd> files{{wake_.get(), POLLIN, 0}};
    std::vector<int> answering;  // the peers of `files`, from index 1 on
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank_) continue;
      const auto p = static_cast<std::size_t>(peer);
      const int events = (silent_[p] ? 0 : POLLIN) | (wanted[p].to_send ? POLLOUT : 0);
      files.push_back({events != 0 ? at(peer).to.get() : -1, static_cast<short>(events), 0});
      answering.push_back(peer);
    }
    for (int peer = 0; peer < size(); ++peer) {
      if (wanted[static_cast<std::size_t>(peer)].to_receive) files.push_back({at(peer).from.get(), POLLIN, 0});
    }
    (void)::poll(files.data(), files.size(), static_cast<int>(most.count()));
    for (std::size_t i = 0; i < answering.size(); ++i) {
      if ((files[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      if (auto why = hear(answering[i]); !why.ok()) end(why, why);
    }
    return health();
  }

  void abort(const Status& why) override { end(why, of_member(rank_, why)); }
  void leave(const Status& why) override { end(why, {}); }
  Status health() const override {
    if (!ended_.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock{mutex_};
    return why_;
  }

 private:
  const PeerSockets& at(int peer) const { return peers_[static_cast<std::size_t>(peer)]; }

  template <typename Call>
  Result<std::size_t> transfer(int peer, std::span<const iovec> places, const Call& call) {
    BURN_RETURN_IF_ERROR(health());
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(places.data());
    message.msg_iovlen = places.size();
    const auto bytes = call(message);
    if (bytes >= 0) return static_cast<std::size_t>(bytes);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::size_t{0};
    BURN_RETURN_IF_ERROR(health());
    const auto why = last_words(peer);
    end(why, why);
    return health();
  }

  // Reads the reason that a peer sends back. Returns it once it is complete; ok if it is not. From the thread of send()
  // and receive().
  Status hear(int peer) {
    const auto p = static_cast<std::size_t>(peer);
    auto& said = said_[p];
    std::array<char, kHead + kMaxText> buffer;
    while (!silent_[p]) {
      const auto got = ::recv(at(peer).to.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      silent_[p] = got <= 0 || said.size() > kHead + kMaxText;
      if (got > 0) said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    if (said.size() < kHead) return {};
    std::array<std::uint32_t, 2> head{};
    std::memcpy(head.data(), said.data(), kHead);
    if (said.size() - kHead < head[1]) return {};
    const bool is_known = head[0] > 0 && head[0] <= static_cast<std::uint32_t>(StatusCode::unauthenticated);
    return {is_known ? static_cast<StatusCode>(head[0]) : StatusCode::unavailable,
            said.substr(kHead, std::min<std::size_t>(head[1], kMaxText))};
  }

  // Why a peer no longer sends or receives.
  Status last_words(int peer) {
    const auto until = std::chrono::steady_clock::now() + kLastWords;
    while (true) {
      if (auto why = hear(peer); !why.ok()) return why;
      const auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
      if (silent_[static_cast<std::size_t>(peer)] || left.count() <= 0) return member_left(peer);
      pollfd file{at(peer).to.get(), POLLIN, 0};
      (void)::poll(&file, 1, static_cast<int>(left.count()));
    }
  }

  // `told`: what the others are told; ok: nothing. The sockets stay open, as a call may be using them.
  void end(const Status& why, const Status& told) {
    const std::lock_guard lock{mutex_};
    if (ended_.load(std::memory_order_relaxed)) return;
    why_ = why;
    ended_.store(true, std::memory_order_release);
    const auto words = told.ok() ? std::string{} : encode(told);
    for (const auto& peer : peers_) {
      if (!peer.to || !peer.from) continue;
      if (!words.empty()) (void)::send(peer.from.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      (void)::shutdown(peer.from.get(), SHUT_WR);
      (void)::shutdown(peer.to.get(), SHUT_WR);
    }
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  const int rank_;
  const std::vector<PeerSockets> peers_;
  const UniqueFd wake_;
  // Used by the thread of send() and receive(): what each peer has sent back, and whether it will send no more.
  std::vector<std::string> said_;
  std::vector<bool> silent_;

  mutable std::mutex mutex_;
  std::atomic<bool> ended_ = false;
  Status why_;
};

}  // namespace

Result<std::unique_ptr<Links>> make_socket_links(int rank, std::vector<PeerSockets> peers) {
  UniqueFd wake{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!wake) return resource_exhausted("the process has no file left to wake a collective with");
  return std::unique_ptr<Links>(std::make_unique<SocketLinks>(rank, std::move(peers), std::move(wake)));
}

}  // namespace burn::backends
