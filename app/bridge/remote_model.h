// A model on another machine, run there by attnscope serve and shown here.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/session/subject_id.h"
#include "core/model/model_settings.h"
#include "core/wire/frame.h"

namespace attnscope {

class Session;
struct Trace;

/// The parts of "ssh://USER@HOST:PORT/PATH@MECHANISM,KEY=VALUE,…".
struct RemotePlace {
  std::string host;        ///< "USER@HOST" or "HOST"
  std::string port;        ///< empty: ssh's own
  std::string path;        ///< absolute
  ModelSettings settings;  ///< an architecture description is a file on the host, its path absolute
};

[[nodiscard]] bool is_remote(const std::string& text);
/// Throws Error(usage) for another form, and for a host that could be an option of ssh. An '@'
/// that no mechanism's name, comma or end follows belongs to the path.
[[nodiscard]] RemotePlace remote_place(const std::string& text);
/// ssh with its arguments, which start attnscope serve on the host for the folders of the path and
/// of the description. The remote shell gets the folders in quotes.
[[nodiscard]] QStringList ssh_command(const RemotePlace& place);

/// Lives on the window's thread, next to its session. Runs the model on the session's input
/// whenever that changes. After the connection broke, what is shown stays, and the program connects
/// again. Ends when its subject is closed.
class RemoteModel : public QObject {
  Q_OBJECT
 public:
  /// `command`: a program with its arguments that serves the path's folder. `most_bytes`: limit of
  /// the arrays of one answer.
  RemoteModel(Session& session, RemotePlace place, QStringList command, std::uint64_t most_bytes,
              QObject* parent = nullptr);
  ~RemoteModel() override;

  void connect_to_host();

 signals:
  /// A sentence on the connection for the user. Empty words: the last one no longer applies.
  void status_changed(const QString& words, bool is_error);

 private:
  using Next = void (RemoteModel::*)(Frame answer);
  void begin();
  void send(const nlohmann::json& message, Next next, const QByteArray& arrays = {});
  void read();
  void read_errors();
  void lose(const QString& why);
  void stop(const QString& why);
  void take_hello(Frame answer);
  void take_model(Frame answer);
  void take_run(Frame answer);
  void take_trace(Frame answer);
  void take_closed(Frame answer);
  void run();
  void fetch(std::int64_t trace);
  void show(const std::shared_ptr<const Trace>& trace);
  void refuse_run(const nlohmann::json& answer);
  void take_end(int status);
  void say(const QString& words);
  void report_problem(const QString& problem);
  [[nodiscard]] QString host_name() const;
  [[nodiscard]] QString model_name() const;

  Session& session_;
  RemotePlace place_;
  QStringList command_;
  FrameLimits limits_;
  QProcess host_;
  FrameReader reader_;
  QTimer again_;
  std::string last_error_;  ///< the last line that ssh or the host wrote to standard error
  int tries_ = 0;
  Next next_ = nullptr;         ///< takes the answer that is awaited; null: none is
  bool stopped_ = false;        ///< does not connect again
  bool lost_ = false;           ///< the user was told so
  std::int64_t model_ = 0;      ///< id of the model at the host; 0: not open
  std::int64_t trace_ = 0;      ///< id of the trace that is fetched
  std::string input_;           ///< locator of the input that was sent last
  std::string received_input_;  ///< locator of the input of the maps that arrived last
  bool received_ = false;       ///< maps have arrived
  SubjectId subject_ = SubjectId::none;
};

}  // namespace attnscope
