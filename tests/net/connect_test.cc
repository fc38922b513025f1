// Why a connection or a listener cannot be had, in the words users see.
#include <filesystem>
#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/net/raw_socket.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Status connect_error(const std::string& url, std::chrono::milliseconds timeout = 5s) {
  const auto channel = net::connect_channel(url, std::make_shared<Recorder>(), timeout);
  return channel.ok() ? ok_status() : channel.status();
}

// A port where no server listens.
std::string free_address() {
  TestAcceptor acceptor{false};
  return address_of((*net::listen_websocket("127.0.0.1:0", acceptor))->url());
}

TEST(Connect, SaysThatNoServerListens) {
  const std::string address = free_address();
  for (const std::string scheme : {"ws://", "grpc://"}) {
    const Status why = connect_error(scheme + address);
    EXPECT_EQ(why.code(), StatusCode::unavailable);
    EXPECT_EQ(why.message(), "cannot connect to " + scheme + address + ": Connection refused");
  }
  EXPECT_EQ(connect_error("unix:/nowhere/burn.socket").message(),
            "cannot connect to unix:/nowhere/burn.socket: No such file or directory");
}

TEST(Connect, SaysThatAHostIsUnknown) {
  for (const std::string scheme : {"ws://", "grpc://"}) {
    const Status why = connect_error(scheme + "no-such-host.invalid:3000");
    EXPECT_EQ(why.code(), StatusCode::unavailable);
    EXPECT_THAT(why.message(), StartsWith("cannot connect to " + scheme + "no-such-host.invalid:3000: "));
  }
}

TEST(Connect, ResolvesNames) {
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, nullptr, &found) != 0) {
    GTEST_SKIP() << "this machine has no name for itself: \"localhost\" does not resolve (/etc/hosts)";
  }
  ::freeaddrinfo(found);
  TestAcceptor echo{true};
  const auto websocket = *net::listen_websocket("localhost:0", echo);
  const auto grpc = *net::listen_grpc("localhost:0", echo);
  for (const auto& url : {websocket->url(), grpc->url()}) {
    const auto colon = url.rfind(':');
    const std::string named = url.substr(0, url.find("://") + 3) + "localhost" + url.substr(colon);
    EXPECT_TRUE(connect_error(named).ok()) << named << ": " << connect_error(named).to_string();
  }
}

TEST(Connect, GivesUpOnAServerThatSaysNothing) {
  const net::UniqueFd silent{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  ASSERT_EQ(::listen(silent.get(), 8), 0);  // on a free port
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  const std::string any = net::to_string(reinterpret_cast<sockaddr*>(&storage));
  const std::string address = "127.0.0.1" + any.substr(any.rfind(':'));
  for (const std::string scheme : {"ws://", "grpc://"}) {
    const auto start = std::chrono::steady_clock::now();
    const Status why = connect_error(scheme + address, 300ms);
    EXPECT_EQ(why.code(), StatusCode::unavailable);
    EXPECT_THAT(why.message(), StartsWith("cannot connect to " + scheme + address + ": "));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  }
}

TEST(Connect, SaysThatTheServerSpeaksSomethingElse) {
  TestAcceptor echo{true};
  const auto websocket = *net::listen_websocket("127.0.0.1:0", echo);
  const auto grpc = *net::listen_grpc("127.0.0.1:0", echo);
  EXPECT_EQ(connect_error("ws://" + address_of(grpc->url())).code(), StatusCode::unavailable);
  EXPECT_EQ(connect_error("grpc://" + address_of(websocket->url())).code(), StatusCode::unavailable);
}

TEST(Listen, SaysThatAPortIsTaken) {
  TestAcceptor acceptor{false};
  const auto first = *net::listen_websocket("127.0.0.1:0", acceptor);
  const auto grpc = *net::listen_grpc("127.0.0.1:0", acceptor);
  for (const auto& taken : {address_of(first->url()), address_of(grpc->url())}) {
    for (const auto listen : {&net::listen_websocket, &net::listen_grpc}) {
      const auto second = listen(taken, acceptor, {});
      ASSERT_FALSE(second.ok());
      EXPECT_EQ(second.status().code(), StatusCode::unavailable);
      EXPECT_EQ(second.status().message(), "cannot listen on " + taken + ": Address already in use");
    }
  }
}

TEST(Listen, SaysThatAnAddressIsNone) {
  TestAcceptor acceptor{false};
  for (const std::string address : {"", "3000", "host:", "host:70000", ":3000", "::1:3000", "[::1]", "[::1:3000"}) {
    for (const auto listen : {&net::listen_websocket, &net::listen_grpc}) {
      const auto listener = listen(address, acceptor, {});
      ASSERT_FALSE(listener.ok()) << address;
      EXPECT_EQ(listener.status().code(), StatusCode::invalid_argument);
      EXPECT_THAT(listener.status().message(), HasSubstr("\"" + address + "\""));
    }
  }
  EXPECT_EQ(net::listen_unix(std::string(200, 'x'), acceptor).status().code(), StatusCode::invalid_argument);
}

TEST(Listen, GivesItsPortBack) {
  TestAcceptor acceptor{false};
  for (const auto listen : {&net::listen_websocket, &net::listen_grpc}) {
    auto listener = *listen("127.0.0.1:0", acceptor, {});
    const std::string url = listener->url();
    const auto client = std::make_shared<Recorder>();
    const auto channel = must_connect(url, client);
    listener.reset();
    const auto again = listen(address_of(url), acceptor, {});
    EXPECT_TRUE(again.ok()) << again.status().to_string();
  }
}

bool has_ipv6() {
  const net::UniqueFd socket{::socket(AF_INET6, SOCK_STREAM, 0)};
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  return socket && ::bind(socket.get(), reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0;
}

TEST(Listen, WorksOnIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no [::1]";
  TestAcceptor echo{true};
  for (const auto listen : {&net::listen_websocket, &net::listen_grpc}) {
    const auto listener = listen("[::1]:0", echo, {});
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    EXPECT_THAT((*listener)->url(), HasSubstr("://[::1]:"));
    EXPECT_TRUE(connect_error((*listener)->url()).ok()) << connect_error((*listener)->url()).to_string();
  }
}

TEST(ListenUnix, RemovesItsFile) {
  TestAcceptor acceptor{false};
  const std::string path = temporary_path("socket");
  auto listener = *net::listen_unix(path, acceptor);
  EXPECT_EQ(listener->url(), "unix:" + path);
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto second = net::listen_unix(path, acceptor);
  EXPECT_EQ(second.status().message(), "cannot listen on " + path + ": Address already in use");
  EXPECT_TRUE(connect_error("unix:" + path).ok());
  listener.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ListenUnix, ReplacesAStaleSocketButNothingElse) {
  TestAcceptor acceptor{false};
  const std::string path = temporary_path("socket");
  {
    const net::UniqueFd dead{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(connect_error("unix:" + path).message(), "cannot connect to unix:" + path + ": Connection refused");
  {
    const auto listener = net::listen_unix(path, acceptor);
    EXPECT_TRUE(listener.ok()) << listener.status().to_string();
  }
  std::ofstream{path} << "precious";
  EXPECT_FALSE(net::listen_unix(path, acceptor).ok());
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
}

// --- gRPC's own services ---------------------------------------------------------------------------------------------

// A unary call with raw bytes.
grpc::Status call(const std::string& url, const std::string& method, const std::string& request, std::string* answer) {
  const auto channel = grpc::CreateChannel(address_of(url), grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  const grpc::Slice slice{request};
  const grpc::ByteBuffer request_bytes{&slice, 1};
  grpc::ByteBuffer answer_bytes;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, method, {}, &request_bytes, &answer_bytes,
                 [&](const grpc::Status& status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  grpc::Slice joined;
  if (status.ok() && answer_bytes.DumpToSingleSlice(&joined).ok()) {
    answer->assign(reinterpret_cast<const char*>(joined.begin()), joined.size());
  }
  return status;
}

TEST(Grpc, AnswersHealthChecksAndNoUnknownMethod) {
  TestAcceptor acceptor{false};
  const auto listener = *net::listen_grpc("127.0.0.1:0", acceptor);
  std::string answer;
  const auto health = call(listener->url(), "/grpc.health.v1.Health/Check", "", &answer);
  EXPECT_TRUE(health.ok()) << health.error_message();
  EXPECT_EQ(answer, "\x08\x01");  // status: SERVING
  EXPECT_TRUE(call(listener->url(), "/grpc.health.v1.Health/Check",
                   "\x0a\x0e"
                   "burn.v1.Worker",
                   &answer)
                  .ok());
  EXPECT_EQ(answer, "\x08\x01");
  EXPECT_EQ(call(listener->url(), "/grpc.health.v1.Health/Check",
                 "\x0a\x03"
                 "etc",
                 &answer)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  listener->stop_accepting();
  EXPECT_TRUE(call(listener->url(), "/grpc.health.v1.Health/Check", "", &answer).ok());
  EXPECT_EQ(answer, "\x08\x02");  // NOT_SERVING
  EXPECT_EQ(call(listener->url(), "/burn.v1.Worker/Explode", "", &answer).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(acceptor.client_count(), 0u);
}

// A call that its client leaves open: nothing is read, sent or closed.
struct OpenCall {
  OpenCall(const std::string& url, const std::string& method)
      : stub(grpc::CreateChannel(url.substr(std::string{"grpc://"}.size()), grpc::InsecureChannelCredentials())),
        call(stub.PrepareCall(&context, method, &queue)) {
    call->StartCall(this);
    next();
  }
  ~OpenCall() {
    queue.Shutdown();
    while (next()) {
    }
  }
  bool next() {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok);
  }

  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::GenericStub stub;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
};

TEST(Grpc, GoesDownWithCallsThatAreHalfOpen) {
  TestAcceptor acceptor{false};
  auto listener = *net::listen_grpc("127.0.0.1:0", acceptor);
  const OpenCall ours(listener->url(), "/burn.v1.Worker/Connect");
  const OpenCall unknown(listener->url(), "/burn.v1.Worker/Explode");
  const OpenCall watching(listener->url(), "/grpc.health.v1.Health/Watch");
  const auto served = acceptor.client(0);
  ASSERT_TRUE(served);
  listener.reset();
  EXPECT_EQ(served->closed_count(), 1);
  EXPECT_EQ(served->why().code(), StatusCode::unavailable);
}

TEST(Grpc, SaysWhatAHandlerHasToSayBeforeItsCallIsOpen) {
  struct Eager : TestAcceptor {
    using TestAcceptor::TestAcceptor;
    std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
      channel->send(frame("welcome"), proto::Lane::control);
      return TestAcceptor::accept(std::move(channel));
    }
  };
  Eager acceptor{false};
  const auto listener = *net::listen_grpc("127.0.0.1:0", acceptor);
  const auto client = std::make_shared<Recorder>();
  const auto channel = must_connect(listener->url(), client);
  ASSERT_TRUE(client->wait_for_frames(1));
  EXPECT_EQ(text(client->frames()[0]), "welcome");
}

}  // namespace
}  // namespace burn::test
