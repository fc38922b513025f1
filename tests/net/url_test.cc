#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/dial/connect.h"
#include "net/transport/socket.h"

namespace burn {
namespace {

using net::Endpoint;
using testing::HasSubstr;

TEST(ParseUrl, KnowsTheThreeSchemes) {
  const auto websocket = net::parse_url("ws://host:3000");
  EXPECT_EQ(websocket->scheme, Endpoint::Scheme::websocket);
  EXPECT_EQ(websocket->address, "host:3000");
  const auto grpc = net::parse_url("grpc://[::1]:3001");
  EXPECT_EQ(grpc->scheme, Endpoint::Scheme::grpc);
  EXPECT_EQ(grpc->address, "[::1]:3001");
  const auto unix_socket = net::parse_url("unix:/run/burn.socket");
  EXPECT_EQ(unix_socket->scheme, Endpoint::Scheme::unix_socket);
  EXPECT_EQ(unix_socket->address, "/run/burn.socket");
  for (const auto& endpoint : {websocket, grpc, unix_socket}) EXPECT_EQ(endpoint->device, 0u);
}

TEST(ParseUrl, KnowsTheDeviceThatIsMeant) {
  const std::tuple<const char*, Endpoint::Scheme, const char*, std::uint32_t> cases[] = {
      {"ws://host:3000/1", Endpoint::Scheme::websocket, "host:3000", 1},
      {"ws://host:3000/0", Endpoint::Scheme::websocket, "host:3000", 0},
      {"grpc://[::1]:3001/12", Endpoint::Scheme::grpc, "[::1]:3001", 12},
      {"unix/1:/run/burn.socket", Endpoint::Scheme::unix_socket, "/run/burn.socket", 1},
      {"unix:/run/burn/1", Endpoint::Scheme::unix_socket, "/run/burn/1", 0},  // that is a path
      {"grpc+unix/3:burn:socket", Endpoint::Scheme::grpc_unix, "burn:socket", 3}};
  for (const auto& [url, scheme, address, device] : cases) {
    const auto endpoint = net::parse_url(url);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status().to_string();
    EXPECT_EQ(endpoint->scheme, scheme) << url;
    EXPECT_EQ(endpoint->address, address);
    EXPECT_EQ(endpoint->device, device);
  }
}

TEST(ParseUrl, KnowsTheDeviceByName) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"ws://host:3000/least-loaded", "host:3000", "least-loaded"},
      {"ws://host:3000/member:a:3000", "host:3000", "member:a:3000"},
      {"grpc://[::1]:3001/member:/run/burn", "[::1]:3001", "member:/run/burn"},
      {"unix/least-loaded:/run/burn", "/run/burn", "least-loaded"},
      {"unix/member:a:3000:/run/burn", "/run/burn", "member:a:3000"},
      {"grpc+unix/fleet:burn:socket", "burn:socket", "fleet"}};
  for (const auto& [url, address, name] : cases) {
    const auto endpoint = net::parse_url(url);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status().to_string();
    EXPECT_EQ(endpoint->address, address);
    EXPECT_EQ(endpoint->device_name, name);
    EXPECT_EQ(endpoint->device, 0u);
  }
  EXPECT_EQ(net::parse_url("unix/1:/run/a:/b")->address, "/run/a:/b") << "a number ends at the first colon";
}

TEST(ParseUrl, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {{"", "ws://HOST:PORT"},
                                                       {"tcp://host:1", "ws://HOST:PORT"},
                                                       {"ws:host:1", "ws://HOST:PORT"},
                                                       {"ws://host", "no port"},
                                                       {"ws://host:", "0 to 65535"},
                                                       {"ws://host:99999", "0 to 65535"},
                                                       {"ws://host:12x", "0 to 65535"},
                                                       {"ws://:3000", "no host"},
                                                       {"ws://::1:3000", "ambiguous"},
                                                       {"ws://[::1:3000", "lacks a ]"},
                                                       {"ws://[::1]3000", "no port"},
                                                       {"ws://host:0", "port 0"},
                                                       {"unix:", "unix:PATH"},
                                                       {"grpc+unix:", "grpc+unix:PATH"},
                                                       {"grpc://", "no port"},
                                                       {"ws://host:3000/.path", "/0, /1"},
                                                       {"ws://host:3000/", "/0, /1"},
                                                       {"ws://host:3000/-1", "/0, /1"},
                                                       {"unix/-x:/run", "/0, /1"},
                                                       {"ws/1://host:3000", "ws://HOST:PORT"},
                                                       {"unix/1", "ws://HOST:PORT"},
                                                       {"unix/1:", "unix:PATH"},
                                                       {"ws://host:3000/99999999999", "/0, /1"}};
  for (const auto& [url, why] : cases) {
    const auto endpoint = net::parse_url(url);
    ASSERT_FALSE(endpoint.ok()) << url;
    EXPECT_EQ(endpoint.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(endpoint.status().message(), HasSubstr(std::string{"\""} + url + "\"")) << url;
    EXPECT_THAT(endpoint.status().message(), HasSubstr(why)) << url;
  }
}

TEST(HostPort, PrintsWhatItParses) {
  for (const char* text : {"127.0.0.1:1", "host:65535", "[::1]:80", "[fe80::1%eth0]:0"}) {
    EXPECT_EQ(to_string(*net::parse_host_port(text)), text);
  }
}

}  // namespace
}  // namespace burn
