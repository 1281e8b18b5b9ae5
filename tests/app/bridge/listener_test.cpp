// Messages to a session over real sockets.
#include "app/bridge/listener.h"

#include <QLocalSocket>
#include <QTcpSocket>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/bridge/window_messages.h"
#include "app/session/session.h"
#include "app/session/training_steps.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

class ListenerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(listener_.listen(folder_ / "window.sock")); }

  /// The answer to the bytes of a message; null if the connection ends without one.
  template <class Socket>
  json ask(Socket& socket, const std::string& bytes) {
    socket.write(bytes.data(), std::ssize(bytes));
    return next_answer(socket);
  }
  json next_answer(QIODevice& socket) {
    FrameReader reader;
    json answer;
    (void)wait_until(
        [&] {
          while (answer.is_null()) {
            const std::span<std::byte> into = reader.wanted();
            const qint64 count =
                socket.read(reinterpret_cast<char*>(into.data()), std::ssize(into));
            if (count <= 0) return !socket.isOpen() && count < 0;
            if (reader.advance(static_cast<std::size_t>(count))) answer = reader.take().header;
          }
          return true;
        },
        20);
    return answer;
  }
  json ask(const std::string& bytes) { return ask(*connected(), bytes); }
  json ask(const json& header, const std::vector<float>& values = {}) {
    return ask(frame_bytes(
        header, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}));
  }
  [[nodiscard]] std::unique_ptr<QLocalSocket> connected() const {
    auto socket = std::make_unique<QLocalSocket>();
    socket->connectToServer(QString::fromStdString((folder_ / "window.sock").string()));
    EXPECT_TRUE(socket->waitForConnected(5000));
    return socket;
  }
  /// A message "show" with one map of 2 × 2 tokens.
  static json shown(const char* name, json step = nullptr) {
    return {{"message", "show"},
            {"name", name},
            {"step", std::move(step)},
            {"arrays",
             {{{"name", "layer_00/implied_map"}, {"dtype", "float32"}, {"shape", {1, 2, 2}}}}}};
  }
  [[nodiscard]] std::vector<std::string> labels() const {
    std::vector<std::string> all;
    for (const OpenSubject& open : session_.subjects()) all.push_back(open.subject.label);
    return all;
  }

  TemporaryFolder folder_;
  Session session_;
  TrainingSteps trainings_{session_};
  std::vector<std::filesystem::path> opened_;
  WindowMessages messages_{session_,
                           {[this](const std::filesystem::path& file) { opened_.push_back(file); },
                            [this]() -> TrainingSteps& { return trainings_; }},
                           100};
  Listener listener_{[this](Frame message, const SendAnswer& answer) {
                       messages_.handle(std::move(message), answer);
                     },
                     1000};
};

const std::vector<float> kMap = {1, 0, 0.25F, 0.75F};

TEST_F(ListenerTest, OnlyTheUserMayUseTheSocketOfTheFirstWindow) {
  struct stat found {};
  ASSERT_EQ(::stat((folder_ / "window.sock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 077, 0U);
  {
    Listener other([](const Frame&, const SendAnswer&) {}, 1000);
    EXPECT_FALSE(other.listen(folder_ / "window.sock"));
  }
  EXPECT_EQ(ask({{"message", "hello"}, {"version", 1}})["ok"], true) << "it still listens";
}

TEST_F(ListenerTest, ShowsMapsAndReplacesThem) {
  EXPECT_EQ(ask(shown("mine"), kMap), (json{{"ok", true}}));
  ASSERT_EQ(labels(), std::vector<std::string>{"mine"});
  EXPECT_EQ(session_.trace(subject_at(session_, 0))->layers[0].implied_map.at(0, 1, 1), 0.75F);
  EXPECT_EQ(ask(shown("mine"), {0, 1, 0.5F, 0.5F})["ok"], true);
  EXPECT_EQ(session_.trace(subject_at(session_, 0))->layers[0].implied_map.at(0, 1, 1), 0.5F);
  EXPECT_EQ(ask(shown("other"), kMap)["ok"], true);
  EXPECT_EQ(ask({{"message", "hello"}, {"version", 1}})["models"], (json{"mine", "other"}));
  EXPECT_EQ(ask({{"message", "close"}, {"name", "mine"}})["ok"], true);
  EXPECT_EQ(labels(), std::vector<std::string>{"other"});
  EXPECT_EQ(ask({{"message", "close"}, {"name", "mine"}})["kind"], "usage");
}

TEST_F(ListenerTest, MapsWithStepsAreOneModelUntilTheLimit) {
  const auto connection = connected();
  const std::string bytes(reinterpret_cast<const char*>(kMap.data()), 16);
  for (int step = 0; step < 6; ++step) {
    EXPECT_EQ(ask(*connection, frame_bytes(shown("live", 10 * step), bytes))["ok"], true) << step;
  }
  EXPECT_EQ(labels(), std::vector<std::string>{"live, step 50"});
  EXPECT_EQ(trainings_.steps().size(), 6U);
  const json refused = ask(*connection, frame_bytes(shown("live", 60), bytes));
  EXPECT_EQ(refused["kind"], "usage") << "seven maps of 16 bytes exceed 100 bytes";
  EXPECT_EQ(ask({{"message", "close"}, {"name", "live"}})["ok"], true);
  EXPECT_EQ(ask(shown("live", 60), kMap)["ok"], true);
}

TEST_F(ListenerTest, OpensOnlyAbsolutePathsThatExist) {
  const std::string file = folder_.write("model.h5", "x").string();
  EXPECT_EQ(ask({{"message", "open"}, {"paths", {file}}})["ok"], true);
  EXPECT_TRUE(wait_until([this] { return !opened_.empty(); }, 5));
  EXPECT_EQ(opened_, std::vector<std::filesystem::path>{file});
  for (const json& paths : {json{"model.h5"}, json(3), json::array(), json{1}, json()}) {
    EXPECT_EQ(ask({{"message", "open"}, {"paths", paths}})["kind"], "usage") << paths;
  }
  EXPECT_EQ(ask({{"message", "open"}, {"paths", {"/nonexistent/x"}}})["kind"], "io");
  EXPECT_EQ(opened_.size(), 1U);
}

TEST_F(ListenerTest, InvalidMessagesAreAnsweredAndTheConnectionGoesOn) {
  const auto connection = connected();
  const auto kind = [&](const json& header) {
    return ask(*connection, frame_bytes(header))["kind"];
  };
  EXPECT_EQ(kind({{"message", "run"}, {"command", "ls"}}), "usage");
  EXPECT_EQ(kind(json::object()), "usage");
  EXPECT_EQ(kind({{"message", 3}}), "usage");
  EXPECT_EQ(kind({{"message", "hello"}, {"version", 2}}), "unsupported");
  EXPECT_EQ(kind({{"message", "show"}, {"name", 3}}), "usage");
  EXPECT_EQ(kind({{"message", "show"}, {"name", "a"}, {"step", -1}}), "usage");
  EXPECT_EQ(kind({{"message", "show"}, {"name", "a"}, {"step", 0.5}}), "usage");
  EXPECT_EQ(kind({{"message", "show"}, {"name", "a"}}), "not_this_format");
  EXPECT_EQ(kind({{"message", "hello"}, {"version", 1}}), json());
  EXPECT_TRUE(session_.subjects().empty());
}

TEST_F(ListenerTest, BytesThatAreNoFrameEndTheConnection) {
  const auto connection = connected();
  EXPECT_EQ(ask(*connection, "GET / HTTP/1.1\r\n\r\n")["kind"], "not_this_format");
  EXPECT_TRUE(
      wait_until([&] { return connection->state() == QLocalSocket::UnconnectedState; }, 10));
  json large = shown("a");
  large["arrays"][0]["shape"] = {1, 20, 20};
  EXPECT_EQ(ask(large, std::vector<float>(400))["kind"], "unsupported") << "1,600 bytes of 1,000";
  EXPECT_EQ(ask({{"message", "hello"}, {"version", 1}})["ok"], true);
}

TEST_F(ListenerTest, ConnectionsShareTheMemory) {
  json large = shown("a");
  large["arrays"][0]["shape"] = {1, 14, 14};
  const std::string bytes = frame_bytes(large, std::string(784, '\0'));
  const auto first = connected();
  first->write(bytes.data(), std::ssize(bytes) - 1);
  ASSERT_TRUE(wait_until([&] { return first->bytesToWrite() == 0; }, 5));
  EXPECT_EQ(ask({{"message", "hello"}, {"version", 1}})["ok"], true);
  EXPECT_EQ(ask(bytes)["kind"], "io") << "the first message is not complete";
  EXPECT_EQ(ask(*first, std::string(1, '\0'))["ok"], true);
}

TEST_F(ListenerTest, MessagesAreHandledOneAfterTheOther) {
  const auto connection = connected();
  const std::string bytes(reinterpret_cast<const char*>(kMap.data()), 16);
  std::string all;
  for (int i = 0; i < 50; ++i) all += frame_bytes(shown("mine"), bytes);
  connection->write(all.data(), std::ssize(all));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(next_answer(*connection)["ok"], true);
  EXPECT_EQ(labels(), std::vector<std::string>{"mine"});
}

TEST_F(ListenerTest, APortNeedsTheTokenAndOpensNoFiles) {
  const std::uint16_t port = listener_.listen_on(0);
  const auto to_port = [port] {
    auto socket = std::make_unique<QTcpSocket>();
    socket->connectToHost("127.0.0.1", port);
    EXPECT_TRUE(socket->waitForConnected(5000));
    return socket;
  };
  const auto hello = [](const std::string& token) {
    return frame_bytes({{"message", "hello"}, {"version", 1}, {"token", token}});
  };
  EXPECT_EQ(listener_.token().size(), 32U);
  EXPECT_EQ(ask(*to_port(), hello(""))["kind"], "usage");
  EXPECT_EQ(ask(*to_port(), hello(std::string(32, '0')))["kind"], "usage");
  EXPECT_EQ(ask(*to_port(), frame_bytes(shown("a"), std::string(16, '\0')))["kind"], "usage");
  const auto admitted = to_port();
  EXPECT_EQ(ask(*admitted, hello(listener_.token()))["ok"], true);
  EXPECT_EQ(ask(*admitted, frame_bytes(shown("a"), std::string(16, '\0')))["ok"], true);
  const std::string file = folder_.write("model.h5", "x").string();
  EXPECT_EQ(ask(*admitted, frame_bytes({{"message", "open"}, {"paths", {file}}}))["kind"], "usage");
  EXPECT_EQ(labels(), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace attnscope
