// One program that sends messages to a listener.
#pragma once

#include <QIODevice>
#include <QObject>
#include <functional>

#include "app/bridge/listener.h"

namespace attnscope {

/// Reads a message, waits for its answer, reads the next one. Owns its socket and is deleted with
/// it.
class Connection : public QObject {
  Q_OBJECT
 public:
  /// `is_port`: the connection begins with a token and may not name files. `close` closes the
  /// socket once everything is sent.
  Connection(Listener& listener, QIODevice& socket, bool is_port, std::function<void()> close);

  /// Bytes of the message that is received or handled.
  [[nodiscard]] std::uint64_t bytes_in_use() const { return in_work_ + reader_.array_bytes(); }

 private:
  void read();
  void handle(Frame message);
  void admit(const nlohmann::json& header);
  void send(const nlohmann::json& answer);
  void refuse(const std::exception& failure);

  Listener& listener_;
  QIODevice& socket_;
  std::function<void()> close_;
  FrameReader reader_;
  std::uint64_t in_work_ = 0;  ///< bytes of the message that is not answered
  bool is_port_, is_admitted_, busy_ = false, closed_ = false;
};

}  // namespace attnscope
