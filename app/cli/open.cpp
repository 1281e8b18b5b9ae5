// attnscope open FILE…: opens files in the window that is open, or in a new one.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QLocalSocket>
#include <QProcess>
#include <QThread>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/bridge/answer.h"
#include "app/bridge/window_socket.h"
#include "app/cli/command_table.h"
#include "app/cli/display.h"
#include "app/cli/subcommand.h"
#include "core/error.h"
#include "core/platform/process.h"
#include "core/wire/frame.h"

namespace attnscope {

namespace {

constexpr int kStartMs = 60'000, kBetweenTriesMs = 100, kConnectMs = 2000, kAnswerMs = 30'000;

/// Sends a message without arrays to the socket of a window and waits for the answer; nothing if no
/// window listens. Throws the error of the answer, and Error(io) without an answer within 30 s.
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

/// Starts a window that outlives this program, and sends the message once it listens.
void open_in_new_window(const std::filesystem::path& socket, const nlohmann::json& message) {
  require_display("run it on a desktop");
  QProcess window;
  window.setProgram(QString::fromStdString(program_file().string()));
  window.setArguments({"gui", "--empty"});
  window.setStandardOutputFile(QProcess::nullDevice());
  window.setStandardErrorFile(QProcess::nullDevice());
  if (!window.startDetached()) {
    throw Error(ErrorKind::io,
                "the window cannot be started: " + window.errorString().toStdString())
        .in_file(program_file());
  }
  QElapsedTimer clock;
  clock.start();
  while (!ask_window(socket, message)) {
    if (clock.elapsed() > kStartMs) {
      throw Error(ErrorKind::io, "the window that was started does not listen")
          .in_file(socket)
          .remedy("attnscope gui tells why");
    }
    QThread::msleep(kBetweenTriesMs);
  }
}

int open_files(const std::vector<std::string>& files) {
  nlohmann::json paths = nlohmann::json::array();
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      throw Error(ErrorKind::io, "the file does not exist").in_file(file);
    }
    paths.push_back(std::filesystem::absolute(file).lexically_normal().string());
  }
  int argc = 1;
  char name[] = "attnscope";
  char* argv[] = {name, nullptr};
  const QCoreApplication application(argc, argv);
  const std::filesystem::path socket = window_socket();
  const nlohmann::json message = {{"message", "open"}, {"paths", paths}};
  if (!ask_window(socket, message)) open_in_new_window(socket, message);
  return 0;
}

}  // namespace

Action add_open(CLI::App& parent, CLI::App*& added) {
  auto files = std::make_shared<std::vector<std::string>>();
  added =
      parent.add_subcommand("open",
                            "Open files in the window that is open\n"
                            "Models, traces, inputs, sessions, and folders of checkpoints, as if "
                            "they were dropped on it. A new window is started if none is open.");
  added->add_option("FILE", *files, "Files or folders")->required()->type_name("FILE");
  set_examples(*added, {"attnscope open vit.safetensors", "attnscope open trace.h5 cat.png"});
  return [files] { return open_files(*files); };
}

}  // namespace attnscope
