// A model that the program itself serves through ssh and a server of ssh on the loopback address.
// Skipped where the server (openssh-server) is not installed.
#include <QProcess>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/bridge/remote_model.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// The path of a program, also of one for administrators; empty if it is not installed.
QString found_program(const char* name) {
  const QString found = QStandardPaths::findExecutable(name);
  return found.isEmpty() ? QStandardPaths::findExecutable(name, {"/usr/sbin", "/usr/local/sbin"})
                         : found;
}

int free_port() {
  QTcpServer server;
  server.listen(QHostAddress::LocalHost);
  return server.serverPort();
}

void kill_with_children(const std::string& process) {
  std::ifstream children("/proc/" + process + "/task/" + process + "/children");
  for (std::string child; children >> child;) kill_with_children(child);
  ::kill(std::stoi(process), SIGKILL);
}

/// A server with keys of its own, for this user, and a program `ssh` that knows them.
class SshServer {
 public:
  SshServer() {
    make_key("host_key");
    make_key("user_key");
    fs::create_directory(folder_ / "there");
    fs::create_symlink(built_program(), folder_ / "there/attnscope");
    (void)folder_.write("sshd_config",
                        "ListenAddress 127.0.0.1:" + port() + "\nHostKey " + path("host_key") +
                            "\nAuthorizedKeysFile " + path("user_key.pub") +
                            "\nStrictModes no\nUsePAM no\nPidFile none\nSetEnv PATH=" +
                            path("there") + ":/usr/bin:/bin\n");
    (void)folder_.write("known_hosts",
                        "[127.0.0.1]:" + port() + " " + read_bytes(folder_ / "host_key.pub"));
    (void)folder_.write("ssh_config",
                        "BatchMode yes\nIdentityAgent none\nIdentitiesOnly yes\n"
                        "GlobalKnownHostsFile /dev/null\nUserKnownHostsFile " +
                            path("known_hosts") + "\nIdentityFile " + path("user_key") + "\n");
    fs::create_directory(folder_ / "here");
    const fs::path ssh =
        folder_.write("here/ssh", "#!/bin/sh\nexec '" + found_program("ssh").toStdString() +
                                      "' -F '" + path("ssh_config") + "' \"$@\"\n");
    fs::permissions(ssh, fs::perms::owner_all);
    qputenv("PATH", QByteArray::fromStdString(path("here")) + ":" + path_before_);
    if (::geteuid() == 0) ::mkdir("/run/sshd", 0755);  // which it demands of an administrator
  }
  ~SshServer() {
    stop();
    qputenv("PATH", path_before_);
  }
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  [[nodiscard]] bool start() {
    server_.setStandardErrorFile(QString::fromStdString(path("log")));
    server_.start(found_program("sshd"),
                  {"-D", "-e", "-f", QString::fromStdString(path("sshd_config"))});
    return wait_until([this] {
      QTcpSocket socket;
      socket.connectToHost("127.0.0.1", static_cast<quint16>(port_));
      return socket.waitForConnected(100);
    });
  }
  /// Ends the server and its connections, as when the machine is switched off.
  void stop() {
    if (server_.state() == QProcess::NotRunning) return;
    kill_with_children(std::to_string(server_.processId()));
    server_.waitForFinished();
  }
  [[nodiscard]] std::string log() const { return read_bytes(folder_ / "log"); }
  [[nodiscard]] std::string port() const { return std::to_string(port_); }

 private:
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  void make_key(const char* name) const {
    QProcess::execute(found_program("ssh-keygen"),
                      {"-q", "-t", "ed25519", "-N", "", "-f", QString::fromStdString(path(name))});
  }

  TemporaryFolder folder_;
  int port_ = free_port();
  QByteArray path_before_ = qgetenv("PATH");
  QProcess server_;
};

TEST(Ssh, ShowsAModelAndConnectsAgainAfterTheServerWasKilled) {
  for (const char* const program : {"sshd", "ssh", "ssh-keygen"}) {
    if (found_program(program).isEmpty()) GTEST_SKIP() << program << " is not installed";
  }
  SshServer server;
  ASSERT_TRUE(server.start()) << server.log();
  Session session;
  const auto look_at = [&](const char* input) {
    session.set_input((sample_data_folder() / "inputs" / input).string());
  };
  const auto shows = [&](const char* input) {
    return wait_until([&] {
      const std::shared_ptr<const Trace> trace = session.trace(subject_at(session, 0));
      return trace && trace->input_label == input;
    });
  };
  const RemotePlace place = remote_place(
      "ssh://" + std::string(::getpwuid(::geteuid())->pw_name) + "@127.0.0.1:" + server.port() +
      (sample_data_folder() / "models/fashion-softmax.h5@adder").string());
  RemoteModel remote(session, place, ssh_command(place), 1 << 30);
  QStringList said;
  QObject::connect(&remote, &RemoteModel::status_changed,
                   [&said](const QString& words, bool) { said << words; });
  const auto all = [&] { return said.join("\n").toStdString() + "\n" + server.log(); };

  look_at("08_bag.png");
  remote.connect_to_host();
  const bool shown = shows("08_bag.png");
  if (server.log().find("account is locked") != std::string::npos) {
    GTEST_SKIP() << "sshd admits no user whose account is locked";
  }
  ASSERT_TRUE(shown) << all();
  EXPECT_EQ(session.trace(subject_at(session, 0))->mechanism.name, "adder");
  EXPECT_EQ(session.subjects().at(0).subject.label, "fashion-softmax on 127.0.0.1");

  server.stop();
  ASSERT_TRUE(wait_until([&] { return said.back().contains("broke"); })) << all();
  EXPECT_TRUE(session.trace(subject_at(session, 0))) << "the maps stay";
  ASSERT_TRUE(server.start()) << server.log();
  ASSERT_TRUE(wait_until([&] { return said.back() == "Connected to 127.0.0.1 again."; })) << all();
  look_at("09_ankle_boot.png");
  EXPECT_TRUE(shows("09_ankle_boot.png")) << all();
}

}  // namespace
}  // namespace attnscope
