#include "app/bridge/window_client.h"

#include <QElapsedTimer>
#include <QLocalSocket>
#include <algorithm>
#include <string>

#include "app/bridge/answer.h"
#include "core/wire/frame.h"

namespace attnscope {

namespace {

constexpr int kConnectMs = 2000, kAnswerMs = 30'000;

}  // namespace

std::optional<nlohmann::json> ask_window(const std::filesystem::path& socket,
                                         const nlohmann::json& message) {
  QLocalSocket window;
  window.connectToServer(QString::fromStdString(socket.string()));
  if (!window.waitForConnected(kConnectMs)) return std::nullopt;
  const std::string bytes = frame_bytes(message);
  window.write(bytes.data(), std::ssize(bytes));
  QElapsedTimer clock;
  clock.start();
  FrameReader reader({.arrays = 0});
  while (true) {
    const std::span<std::byte> into = reader.wanted();
    const qint64 count = window.read(reinterpret_cast<char*>(into.data()), std::ssize(into));
    if (count > 0 && reader.advance(static_cast<std::size_t>(count))) break;
    if (count > 0) continue;
    const int left = kAnswerMs - static_cast<int>(std::min<qint64>(clock.elapsed(), kAnswerMs));
    if (count < 0 || left == 0 || !window.waitForReadyRead(left)) {
      throw Error(ErrorKind::io, "the open window does not answer")
          .in_file(socket)
          .remedy("it may show a dialog that waits for an answer; or close it");
    }
  }
  const nlohmann::json answer = reader.take().header;
  throw_error_in(answer);
  return answer;
}

}  // namespace attnscope
