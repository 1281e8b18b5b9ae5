// Listens for messages of other programs on a socket of the user's own, and on request on a port of
// this machine.
#pragma once

#include <QLocalServer>
#include <QLockFile>
#include <QObject>
#include <QTcpServer>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/bridge/answer.h"
#include "core/wire/frame.h"

namespace attnscope {

class Connection;

/// Lives on the window's thread. Each connection has at most one message in work; further bytes
/// wait with the sender until it is answered. A message that is no valid frame is answered with an
/// error and ends its connection.
class Listener : public QObject {
  Q_OBJECT
 public:
  /// Handles a message: calls the answer once, now or later. Errors that it throws are answered.
  using Handle = std::function<void(Frame message, const SendAnswer& answer)>;

  /// `most_bytes`: limit of the arrays of all messages that are received or handled at a time.
  Listener(Handle handle, std::uint64_t most_bytes, QObject* parent = nullptr);
  ~Listener() override;

  /// Listens on a socket that only this user may use. False if another process listens there.
  /// Throws Error(io).
  bool listen(const std::filesystem::path& socket);
  /// Listens on the loopback interface; 0 takes any free port. Returns the port. Connections must
  /// begin with the message "hello" and the token, and may not name files. Throws Error(io).
  std::uint16_t listen_on(std::uint16_t port);
  /// The token of the port, 32 hexadecimal digits.
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  friend class Connection;
  template <class Server>
  void take_connections(Server& server, bool is_port);
  /// Bytes of the arrays of all connections.
  [[nodiscard]] std::uint64_t bytes_in_use() const;

  Handle handle_;
  FrameLimits limits_;
  std::unique_ptr<QLockFile> lock_;  ///< held while this process listens on the socket
  QLocalServer local_;
  QTcpServer tcp_;
  std::string token_;
};

}  // namespace attnscope
