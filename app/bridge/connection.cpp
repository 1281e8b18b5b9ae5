#include "app/bridge/connection.h"

#include <QPointer>
#include <utility>

#include "core/text/failure.h"

namespace attnscope {

namespace {

constexpr qint64 kMostUnsent = qint64{1} << 20;  // bytes of answers that the sender did not read

/// True if both texts are equal; takes as long for any text of the same length.
bool equal_tokens(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace

Connection::Connection(Listener& listener, QIODevice& socket, bool is_port,
                       std::function<void()> close)
    : QObject(&listener),
      listener_(listener),
      socket_(socket),
      close_(std::move(close)),
      reader_(listener.limits_),
      is_port_(is_port),
      is_admitted_(!is_port) {
  socket_.setParent(this);
  connect(&socket_, &QIODevice::readyRead, this, &Connection::read);
  connect(&socket_, &QIODevice::bytesWritten, this, &Connection::read);
  QMetaObject::invokeMethod(this, &Connection::read, Qt::QueuedConnection);
}

void Connection::read() {
  try {
    while (!busy_ && !closed_ && socket_.bytesToWrite() < kMostUnsent) {
      const std::span<std::byte> into = reader_.wanted();
      const qint64 count = socket_.read(reinterpret_cast<char*>(into.data()), std::ssize(into));
      if (count <= 0) return;
      const bool complete = reader_.advance(static_cast<std::size_t>(count));
      if (listener_.bytes_in_use() > listener_.limits_.arrays) {
        throw Error(ErrorKind::io, "the memory for messages is in use by other connections")
            .remedy("send the message again later");
      }
      if (complete) handle(reader_.take());  // its handler returns to this loop of events
    }
  } catch (const std::exception& failure) {
    refuse(failure);
  }
}

void Connection::handle(Frame message) {
  busy_ = true;
  in_work_ = 0;
  for (const StoredTensor& array : message.arrays) {
    in_work_ += static_cast<std::uint64_t>(array.bytes);
  }
  admit(message.header);
  const SendAnswer answer = [self = QPointer<Connection>(this)](const nlohmann::json& words) {
    if (self) self->send(words);
  };
  try {
    listener_.handle_(std::move(message), answer);
  } catch (const std::exception& failure) {
    send(answer_of(as_error(failure)));
  }
}

/// Throws Error(usage) for a message that the connection may not send.
void Connection::admit(const nlohmann::json& header) {
  if (!is_port_) return;
  const std::string message = header.value("message", "");
  if (!is_admitted_) {
    is_admitted_ = message == "hello" && equal_tokens(header.value("token", ""), listener_.token());
  }
  if (!is_admitted_) {
    throw Error(ErrorKind::usage, "the connection must begin with the window's token")
        .expected(R"({"message": "hello", "version": 1, "token": "…"})")
        .remedy("set ATTNSCOPE_TOKEN to the token that attnscope gui --listen prints");
  }
  if (message == "open") {
    throw Error(ErrorKind::usage, "files are opened only through the user's own socket")
        .about("open");
  }
}

void Connection::send(const nlohmann::json& answer) {
  if (!busy_) return;
  busy_ = false;
  in_work_ = 0;
  const std::string bytes = frame_bytes(answer);
  socket_.write(bytes.data(), std::ssize(bytes));
  // The next message may have arrived already. It is not handled inside this one's handler.
  QMetaObject::invokeMethod(this, &Connection::read, Qt::QueuedConnection);
}

/// Answers with an error and closes the connection, because where its next frame begins is unknown.
void Connection::refuse(const std::exception& failure) {
  const std::string bytes = frame_bytes(answer_of(as_error(failure)));
  socket_.write(bytes.data(), std::ssize(bytes));
  closed_ = true;
  reader_ = FrameReader(listener_.limits_);
  in_work_ = 0;
  close_();
}

}  // namespace attnscope
