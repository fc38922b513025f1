#include "net/transport/websocket.h"

#include <utility>

#include "net/transport/ws_connection.h"

namespace burn::net {

using ws::Connection;
using ws::Role;

std::weak_ptr<Abortable> serve_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                         const WebSocketOptions& options, Connection::Accept accept,
                                         std::shared_ptr<const void> lease) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, Role::server);
  connection->serve(std::move(accept), std::move(lease));
  return connection;
}

Result<std::shared_ptr<proto::Channel>> open_websocket(std::shared_ptr<IoContext> loop, UniqueFd socket,
                                                       const std::string& host, const WebSocketOptions& options,
                                                       std::shared_ptr<proto::ChannelHandler> handler) {
  auto connection = std::make_shared<Connection>(std::move(loop), std::move(socket), options, Role::client);
  Status opened = connection->open(host, std::move(handler)).get();
  if (!opened.ok()) return opened;
  return std::shared_ptr<proto::Channel>(std::make_shared<ws::ConnectionChannel>(std::move(connection)));
}

}  // namespace burn::net
