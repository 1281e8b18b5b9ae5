// A model on another machine, played by the program itself and by programs that break.
#include "app/bridge/remote_model.h"

#include <csignal>
#include <gtest/gtest.h>

#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class RemoteModelTest : public testing::Test {
 protected:
  /// Serves the folder of the sample models.
  static QStringList served() {
    return {QString::fromStdString(built_program()), "serve", "--stdio",
            QString::fromStdString((sample_data_folder() / "models").string())};
  }
  static RemotePlace sample(const char* name) {
    return remote_place("ssh://host" + (sample_data_folder() / "models" / name).string());
  }
  RemoteModel& remote(RemotePlace place, const QStringList& command) {
    remote_ = std::make_unique<RemoteModel>(session_, std::move(place), command, 1 << 30);
    QObject::connect(remote_.get(), &RemoteModel::status_changed,
                     [this](const QString& words, bool is_error) {
                       now_ = words;
                       (is_error ? said_ : states_) << words;
                     });
    remote_->connect_to_host();
    return *remote_;
  }
  void look_at(const char* input) {
    session_.set_input((sample_data_folder() / "inputs" / input).string());
  }
  [[nodiscard]] bool shows(const std::string& input) {
    return wait_until([&] {
      const std::shared_ptr<const Trace> trace = session_.trace(subject_at(session_, 0));
      return trace && trace->input_label == input;
    });
  }

  TemporaryFolder folder_;
  Session session_;
  QStringList said_;    ///< errors
  QStringList states_;  ///< the other words
  QString now_;         ///< the last status
  std::unique_ptr<RemoteModel> remote_;
};

TEST(RemotePlace, IsAHostAndAnAbsolutePath) {
  const RemotePlace place = remote_place("ssh://me@host.example:22/models/a b.pt");
  EXPECT_EQ(place.host, "me@host.example");
  EXPECT_EQ(place.port, "22");
  EXPECT_EQ(place.path, "/models/a b.pt");
  EXPECT_EQ(
      ssh_command(place),
      (QStringList{"ssh", "-T", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-p",
                   "22", "--", "me@host.example", "attnscope serve --stdio '/models'"}));
  EXPECT_TRUE(ssh_command(remote_place("ssh://h/it's $(x)/a")).back().endsWith("'/it'\\''s $(x)'"));
  for (const char* const wrong :
       {"ssh://", "ssh:///a", "ssh://host", "ssh://host/", "ssh://-oProxyCommand=x/a",
        "ssh://me@-x/a", "ssh://-x@host/a", "ssh://a b/c", "ssh://host;ls/a", "ssh://host:/a",
        "ssh://host:2x/a", "http://host/a"}) {
    EXPECT_THROW((void)remote_place(wrong), Error) << wrong;
  }
}

TEST(RemotePlace, CarriesSettingsAsAModelOnTheCommandLine) {
  const RemotePlace laid = remote_place(
      "ssh://h/a@b/m.h5@adder,identity=true,channel=2,option.pool=mean,architecture=../d/m.json");
  EXPECT_EQ(laid.path, "/a@b/m.h5");
  EXPECT_EQ(laid.settings.mechanism, "adder");
  EXPECT_EQ(laid.settings.settings, std::vector<std::string>{"identity=true"});
  EXPECT_EQ(laid.settings.channel, "2");
  EXPECT_EQ(laid.settings.options.at("pool"), "mean");
  EXPECT_EQ(laid.settings.architecture, "/a@b/../d/m.json");
  EXPECT_TRUE(ssh_command(laid).back().endsWith(" --stdio '/a@b' '/a@b/../d'"));
  const RemotePlace own = remote_place("ssh://h/a/m.h5@,model-heads=3,architecture=m.json");
  EXPECT_EQ(own.settings.mechanism, "");
  EXPECT_EQ(own.settings.model_heads, "3");
  EXPECT_TRUE(ssh_command(own).back().endsWith(" --stdio '/a'"));
  EXPECT_EQ(remote_place("ssh://h/a/model@v2.h5").path, "/a/model@v2.h5") << "part of the name";
  for (const char* const wrong :
       {"ssh://h/m@adder,identity", "ssh://h/m@adder,input=a.png", "ssh://h/m@,channel=x"}) {
    EXPECT_THROW((void)remote_place(wrong), Error) << wrong;
  }
}

TEST_F(RemoteModelTest, LaysAnotherMechanismOverTheModel) {
  remote(sample("fashion-softmax.h5@adder,identity=true"), served());
  look_at("08_bag.png");
  ASSERT_TRUE(shows("08_bag.png")) << said_.join("\n").toStdString();
  const MechanismChoice mechanism = session_.trace(subject_at(session_, 0))->mechanism;
  EXPECT_EQ(mechanism.name, "adder");
  EXPECT_EQ(mechanism.parameters.at("identity"), ParameterValue(true));
  EXPECT_EQ(session_.subjects().at(0).subject.label, "fashion-softmax on host");
}

TEST_F(RemoteModelTest, OpensAModelThatAsksForItsHeads) {
  const std::string file = (folder_ / "vit.safetensors").string();
  write_hashed_safetensors(file, timm_shapes({.width = 24, .channels = 1, .mlp_width = 48}));
  const QStringList command = {QString::fromStdString(built_program()), "serve", "--stdio",
                               QString::fromStdString(folder_.path().string())};
  remote(remote_place("ssh://host" + file), command);
  ASSERT_TRUE(wait_until([&] { return !said_.isEmpty(); }));
  EXPECT_TRUE(said_[0].contains("heads=N")) << said_[0].toStdString();
  remote(remote_place("ssh://host" + file + "@,option.heads=3"), command);
  look_at("08_bag.png");
  ASSERT_TRUE(shows("08_bag.png")) << said_.join("\n").toStdString();
  EXPECT_EQ(session_.trace(subject_at(session_, 0))->heads(0), 3);
}

TEST_F(RemoteModelTest, RunsOnTheInputOfTheSessionAndOnTheNextOne) {
  remote(sample("fashion-softmax.h5"), served());
  look_at("08_bag.png");
  ASSERT_TRUE(shows("08_bag.png")) << said_.join("\n").toStdString();
  EXPECT_EQ(session_.subjects().at(0).subject.label, "fashion-softmax on host");
  Session local;
  local.open(sample_data_folder() / "models/fashion-softmax.h5");
  local.set_input((sample_data_folder() / "inputs/08_bag.png").string());
  ASSERT_TRUE(wait_until([&] { return local.subjects().at(0).is_complete(); }));
  const auto here = local.trace(subject_at(local, 0)),
             there = session_.trace(subject_at(session_, 0));
  ASSERT_EQ(here->layers.size(), there->layers.size());
  EXPECT_EQ(here->layers[3].implied_map.at(1, 2, 3), there->layers[3].implied_map.at(1, 2, 3));
  EXPECT_EQ(states_, (QStringList{"Connecting to host…", "Running fashion-softmax on host…",
                                  "Receiving fashion-softmax from host…", ""}));
  look_at("09_ankle_boot.png");
  EXPECT_TRUE(shows("09_ankle_boot.png"));
  EXPECT_EQ(session_.subjects().size(), 1U);
  session_.set_input("text:To be");
  EXPECT_TRUE(wait_until([&] { return !said_.isEmpty(); })) << "the model reads images";
  look_at("08_bag.png");
  EXPECT_TRUE(shows("08_bag.png")) << "it is still connected";
}

TEST_F(RemoteModelTest, ABrokenConnectionLeavesTheMapsAndIsMadeAgain) {
  const std::filesystem::path process = folder_ / "process";
  const std::string script = "echo $$ > '" + process.string() + "'; exec \"$@\"";
  remote(sample("fashion-softmax.h5"),
         QStringList{"/bin/sh", "-c", QString::fromStdString(script), "sh"} + served());
  look_at("08_bag.png");
  ASSERT_TRUE(shows("08_bag.png"));
  ::kill(std::stoi(read_bytes(process)), SIGKILL);
  ASSERT_TRUE(wait_until([&] { return now_.contains("again."); }, 30));
  ASSERT_EQ(said_.size(), 1) << said_.join("\n").toStdString();
  EXPECT_TRUE(said_[0].contains("stay")) << said_[0].toStdString();
  EXPECT_EQ(session_.subjects().size(), 1U);
  look_at("09_ankle_boot.png");
  EXPECT_TRUE(shows("09_ankle_boot.png"));
}

TEST_F(RemoteModelTest, AsksForAnInputOnceItIsConnected) {
  remote(sample("fashion-softmax.h5"), served());
  ASSERT_TRUE(wait_until([&] { return states_.size() == 2; }));
  EXPECT_EQ(now_, "Connected to host. Open an input to run fashion-softmax on.");
  look_at("08_bag.png");
  EXPECT_TRUE(shows("08_bag.png"));
  EXPECT_TRUE(now_.isEmpty()) << now_.toStdString();
}

TEST_F(RemoteModelTest, SaysWhyNothingComes) {
  remote(sample("missing.h5"), served());
  ASSERT_TRUE(wait_until([&] { return !said_.isEmpty(); }));
  EXPECT_TRUE(said_.back().contains("missing.h5")) << said_.back().toStdString();
  remote(remote_place("ssh://host/etc/passwd"), served());
  ASSERT_TRUE(wait_until([&] { return said_.size() == 2; }));
  EXPECT_TRUE(said_.back().contains("below a folder")) << said_.back().toStdString();
  remote(sample("fashion-softmax.h5"), {"/nonexistent/ssh"});
  EXPECT_TRUE(wait_until([&] { return said_.size() == 3; }));
  remote(sample("fashion-softmax.h5"), {"/bin/sh", "-c", "exit 127"});
  EXPECT_TRUE(wait_until([&] { return said_.size() == 4; }));
  remote(sample("fashion-softmax.h5"), {"/bin/sh", "-c", "echo Welcome to this machine"});
  EXPECT_TRUE(wait_until([&] { return said_.size() == 5; }));
  EXPECT_TRUE(said_.back().contains("not a frame")) << said_.back().toStdString();
  remote(sample("fashion-softmax.h5"),
         {"/bin/sh", "-c", "echo 'ssh: Connection refused.' >&2; exit 255"});
  EXPECT_TRUE(wait_until([&] { return said_.back().contains("Connection refused)"); }))
      << said_.join("\n").toStdString();
  EXPECT_TRUE(session_.subjects().empty());
}

}  // namespace
}  // namespace attnscope
