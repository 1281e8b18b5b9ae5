#include "app/bridge/listener.h"

#include <QLocalSocket>
#include <QRandomGenerator>
#include <QTcpSocket>
#include <utility>

#include "app/bridge/connection.h"

namespace attnscope {

namespace {

constexpr qsizetype kMostConnections = 32;
constexpr qint64 kReadAhead = qint64{1} << 20;  // bytes that Qt reads before they are wanted

void close_when_sent(QLocalSocket& socket) { socket.disconnectFromServer(); }
void close_when_sent(QTcpSocket& socket) { socket.disconnectFromHost(); }

Error cannot_listen(const QString& why) {
  return {ErrorKind::io, "the window cannot listen: " + why.toStdString()};
}

}  // namespace

Listener::Listener(Handle handle, std::uint64_t most_bytes, QObject* parent)
    : QObject(parent), handle_(std::move(handle)) {
  limits_.arrays = most_bytes;
  local_.setSocketOptions(QLocalServer::UserAccessOption);
  connect(&local_, &QLocalServer::newConnection, this, [this] { take_connections(local_, false); });
  connect(&tcp_, &QTcpServer::newConnection, this, [this] { take_connections(tcp_, true); });
}

Listener::~Listener() {
  // Connections use the servers' sockets and this object.
  for (Connection* connection : findChildren<Connection*>()) delete connection;
}

bool Listener::listen(const std::filesystem::path& socket) {
  const QString name = QString::fromStdString(socket.string());
  lock_ = std::make_unique<QLockFile>(name + ".lock");
  lock_->setStaleLockTime(0);  // stale only if its process has ended
  if (!lock_->tryLock()) {
    const bool is_taken = lock_->error() == QLockFile::LockFailedError;
    lock_.reset();
    if (is_taken) return false;
    throw cannot_listen("its lock cannot be made").in_file(socket);
  }
  QLocalServer::removeServer(name);  // left behind by a process that did not end by itself
  if (local_.listen(name)) return true;
  throw cannot_listen(local_.errorString()).in_file(socket);
}

std::uint16_t Listener::listen_on(std::uint16_t port) {
  QByteArray random(16, '\0');
  QRandomGenerator::system()->generate(random.begin(), random.end());
  token_ = random.toHex().toStdString();
  if (!tcp_.listen(QHostAddress::LocalHost, port)) {
    throw cannot_listen(tcp_.errorString()).about("port " + std::to_string(port));
  }
  return tcp_.serverPort();
}

template <class Server>
void Listener::take_connections(Server& server, bool is_port) {
  while (auto* const socket = server.nextPendingConnection()) {
    if (findChildren<Connection*>().size() >= kMostConnections) {
      delete socket;
      continue;
    }
    socket->setReadBufferSize(kReadAhead);
    auto* const connection =
        new Connection(*this, *socket, is_port, [socket] { close_when_sent(*socket); });
    connect(socket, &std::remove_pointer_t<decltype(socket)>::disconnected, connection,
            &QObject::deleteLater);
  }
}

std::uint64_t Listener::bytes_in_use() const {
  std::uint64_t bytes = 0;
  for (const Connection* connection : findChildren<Connection*>()) {
    bytes += connection->bytes_in_use();
  }
  return bytes;
}

}  // namespace attnscope
