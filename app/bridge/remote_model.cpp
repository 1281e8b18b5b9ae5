#include "app/bridge/remote_model.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "app/bridge/answer.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/input.h"
#include "core/shown_text.h"
#include "core/text/failure.h"
#include "core/trace/trace.h"
#include "core/wire/shown_trace.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr std::string_view kScheme = "ssh://";
constexpr int kFirstWaitMs = 1000, kLongestWaitMs = 30'000;
constexpr std::size_t kMostInput = std::size_t{64} << 20;  // bytes of an input's file

bool is_host_name(std::string_view host) {
  const auto is_known = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  return !host.empty() && host.front() != '-' && std::ranges::all_of(host, is_known);
}

std::string host_of(const RemotePlace& place) {
  return place.host.substr(place.host.find('@') + 1);
}

std::filesystem::path folder_of(const std::string& file) {
  return std::filesystem::path(file).parent_path();
}

/// The members of "run" for the mechanism and the channel. Values stay texts, which the host
/// parses.
json settings_of_run(const ModelSettings& settings) {
  json members = json::object();
  if (!settings.mechanism.empty()) members["mechanism"] = settings.mechanism;
  for (const std::string& setting : settings.settings) {
    const auto [key, value] = split_setting(setting, "what follows the model's @");
    members["parameters"][key] = value;
  }
  const std::optional<std::int64_t> channel =
      settings.channel.empty() ? std::nullopt : parse_channel(settings.channel);
  if (channel) members["channel"] = *channel;
  return members;
}

/// Moves the settings at the end of the path into `settings`.
void split_settings(RemotePlace& place) {
  const std::size_t at = settings_begin(place.path);
  if (at == std::string::npos) return;
  ModelSettings& settings = place.settings;
  settings = split_model_settings(place.path.substr(at + 1));
  place.path.resize(at);
  for (const std::string& setting : settings.settings) {
    if (!setting.starts_with("input=")) continue;
    throw Error(ErrorKind::usage, "all models must run on the same input")
        .expected("ssh://HOST/PATH@MECHANISM without an input of its own")
        .found(shown_text(setting));
  }
  if (!settings.channel.empty()) (void)parse_channel(settings.channel);
  if (settings.architecture.empty()) return;
  settings.architecture = (folder_of(place.path) / settings.architecture).string();
}

}  // namespace

bool is_remote(const std::string& text) { return text.starts_with(kScheme); }

RemotePlace remote_place(const std::string& text) {
  const std::string rest = is_remote(text) ? text.substr(kScheme.size()) : "";
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  RemotePlace place{rest.substr(0, slash), "", rest.substr(slash), {}};
  split_settings(place);
  const std::size_t colon = std::min(place.host.find(':'), place.host.size());
  const bool has_port = colon < place.host.size();
  if (has_port) place.port = place.host.substr(colon + 1);
  place.host.resize(colon);
  const std::size_t at = place.host.find('@');
  const bool has_user = at != std::string::npos;
  const bool fits = is_host_name(host_of(place)) &&
                    (!has_user || is_host_name(place.host.substr(0, at))) &&
                    has_port != place.port.empty() && place.port.size() <= 5 &&
                    std::ranges::all_of(place.port, [](char c) { return c >= '0' && c <= '9'; }) &&
                    place.path.size() > 1;
  if (fits) return place;
  throw Error(ErrorKind::usage, "the place of a model on another machine is not valid")
      .expected("ssh://HOST/PATH, ssh://USER@HOST:PORT/PATH@MECHANISM,KEY=VALUE")
      .found(shown_text(text));
}

QStringList ssh_command(const RemotePlace& place) {
  // A silently dead connection ends within a minute of its last answer.
  QStringList command = {
      "ssh", "-T", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"};
  if (!place.port.empty()) command << "-p" << QString::fromStdString(place.port);
  const std::filesystem::path folder = folder_of(place.path),
                              described = folder_of(place.settings.architecture);
  std::string serve = "attnscope serve --stdio " + in_single_quotes(folder.string());
  if (!described.empty() && described != folder)
    serve += " " + in_single_quotes(described.string());
  command << "--" << QString::fromStdString(place.host) << QString::fromStdString(serve);
  return command;
}

RemoteModel::RemoteModel(Session& session, RemotePlace place, QStringList command,
                         std::uint64_t most_bytes, QObject* parent)
    : QObject(parent),
      session_(session),
      place_(std::move(place)),
      command_(std::move(command)),
      limits_({.arrays = most_bytes}) {
  again_.setSingleShot(true);
  connect(&again_, &QTimer::timeout, this, &RemoteModel::connect_to_host);
  connect(&host_, &QProcess::started, this, &RemoteModel::begin);
  connect(&host_, &QProcess::readyReadStandardOutput, this, &RemoteModel::read);
  connect(&host_, &QProcess::readyReadStandardError, this, &RemoteModel::read_errors);
  connect(&host_, &QProcess::finished, this, &RemoteModel::take_end);
  connect(&host_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) stop(host_.errorString());
  });
  connect(&session_, &Session::input_changed, this, &RemoteModel::run);
  connect(&session_, &Session::subjects_changed, this, [this] {
    if (subject_ != SubjectId::none && !session_.find(subject_)) stop({});
  });
}

RemoteModel::~RemoteModel() {
  host_.disconnect(this);
  host_.kill();
  host_.waitForFinished(1000);
}

void RemoteModel::connect_to_host() {
  reader_ = FrameReader(limits_);
  last_error_.clear();
  next_ = nullptr;
  model_ = 0;
  if (!lost_) say(tr("Connecting to %1…").arg(host_name()));
  host_.start(command_.front(), command_.mid(1));
}

void RemoteModel::begin() {
  send({{"message", "hello"}, {"version", kProtocolVersion}}, &RemoteModel::take_hello);
}

void RemoteModel::send(const json& message, Next next, const QByteArray& arrays) {
  next_ = next;
  const std::string head = frame_head(message, static_cast<std::uint64_t>(arrays.size()));
  host_.write(head.data(), std::ssize(head));
  host_.write(arrays);
}

void RemoteModel::read() {
  try {
    while (!stopped_) {
      const std::span<std::byte> into = reader_.wanted();
      const qint64 count = host_.read(reinterpret_cast<char*>(into.data()), std::ssize(into));
      if (count <= 0) return;
      if (!reader_.advance(static_cast<std::size_t>(count))) continue;
      Frame answer = reader_.take();
      const Next next = std::exchange(next_, nullptr);
      if (next == &RemoteModel::take_run && answer.header.contains("error")) {
        refuse_run(answer.header);
        continue;
      }
      throw_error_in(answer.header);
      if (next) (this->*next)(std::move(answer));
    }
  } catch (const std::exception& failure) {
    stop(QString::fromStdString(as_error(failure).in_window()));
  }
}

/// Writes what ssh reports to standard error, and keeps its last line for the notice. Ssh asks for
/// passwords at the terminal itself.
void RemoteModel::read_errors() {
  constexpr std::size_t kMostOfALine = 160;
  const std::string text = host_.readAllStandardError().toStdString();
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    while (line.ends_with('\r') || line.ends_with('.')) line.pop_back();
    if (!line.empty()) last_error_ = shown_text(line.substr(0, kMostOfALine));
  }
}

void RemoteModel::take_end(int status) {
  read_errors();
  constexpr int kWrongUsage = 2, kNotFound = 127;  // exit statuses of this program and of a shell
  if (host_.exitStatus() == QProcess::CrashExit) return lose(tr("it was ended by a signal"));
  if (status == kNotFound) return stop(tr("the program attnscope was not found there"));
  if (status == kWrongUsage) return stop(tr("the program there cannot serve models"));
  lose(last_error_.empty() ? tr("status %1").arg(status) : QString::fromStdString(last_error_));
}

/// The connection broke, as with the network: what is shown stays.
void RemoteModel::lose(const QString& why) {
  if (stopped_) return;
  next_ = nullptr;
  const int wait = std::min(kFirstWaitMs << std::min(tries_, 5), kLongestWaitMs);
  ++tries_;
  again_.start(wait);
  if (std::exchange(lost_, true)) return;
  Q_EMIT status_changed(
      received_ ? tr("The connection to %1 broke (%2). The maps that it sent stay; the window "
                     "connects again.")
                      .arg(host_name(), why)
                : tr("%1 cannot be reached (%2). The window tries again.").arg(host_name(), why),
      true);
}

/// Ends the connection for an error that another try would meet again; no words: for good.
void RemoteModel::stop(const QString& why) {
  if (std::exchange(stopped_, true)) return;
  again_.stop();
  host_.closeWriteChannel();  // the other side ends at the end of its input
  why.isEmpty() ? say({}) : report_problem(why);
}

void RemoteModel::say(const QString& words) { Q_EMIT status_changed(words, false); }

QString RemoteModel::host_name() const { return QString::fromStdString(host_of(place_)); }

QString RemoteModel::model_name() const {
  const std::string stem = std::filesystem::path(place_.path).stem().string();
  return QString::fromStdString(shown_text(stem));
}

void RemoteModel::report_problem(const QString& problem) {
  Q_EMIT status_changed(tr("%1: %2").arg(host_name(), problem), true);
}

void RemoteModel::take_hello(Frame answer) {
  check_version(answer.header);
  const ModelSettings& settings = place_.settings;
  json message = {{"message", "open"}, {"path", place_.path}, {"options", settings.options}};
  if (!settings.model_heads.empty()) message["options"]["heads"] = settings.model_heads;
  if (!settings.architecture.empty()) message["architecture"] = settings.architecture;
  send(message, &RemoteModel::take_model);
}

void RemoteModel::take_model(Frame answer) {
  tries_ = 0;
  if (std::exchange(lost_, false) && received_) say(tr("Connected to %1 again.").arg(host_name()));
  const auto id = answer.header.at("id").get<std::int64_t>();
  if (answer.header.at("kind") == "trace") {
    if (!received_) fetch(id);
    return;
  }
  model_ = id;
  if (session_.input_locator().empty()) {
    say(tr("Connected to %1. Open an input to run %2 on.").arg(host_name(), model_name()));
  }
  run();
}

/// Runs the model on the session's input, unless its maps are shown or awaited.
void RemoteModel::run() {
  const std::string locator = session_.input_locator();
  if (stopped_ || model_ == 0 || next_ || locator.empty() || !session_.input()) return;
  if (received_ && locator == received_input_) return;
  input_ = locator;
  json message = settings_of_run(place_.settings);
  message.update({{"message", "run"}, {"id", model_}, {"input", locator}});
  QByteArray bytes;
  if (!is_written_out(locator)) {
    try {
      bytes = QByteArray::fromStdString(read_file(locator, kMostInput));
    } catch (const Error& error) {  // an item of a data set, for example
      return report_problem(tr("only an input in a file of its own can be sent (%1)")
                                .arg(QString::fromStdString(error.in_window())));
    }
    message["input"] = std::filesystem::path(locator).filename().string();
    message["arrays"] = {{{"name", "input"}, {"dtype", "uint8"}, {"shape", {bytes.size()}}}};
  }
  say(tr("Running %1 on %2…").arg(model_name(), host_name()));
  send(message, &RemoteModel::take_run, bytes);
}

/// The model stays open for another input.
void RemoteModel::refuse_run(const json& answer) {
  try {
    throw_error_in(answer);
  } catch (const Error& error) {
    report_problem(QString::fromStdString(error.in_window()));
  }
  if (session_.input_locator() != input_) run();
}

void RemoteModel::take_run(Frame answer) { fetch(answer.header.at("id").get<std::int64_t>()); }

void RemoteModel::fetch(std::int64_t trace) {
  trace_ = trace;
  say(tr("Receiving %1 from %2…").arg(model_name(), host_name()));
  send({{"message", "trace"}, {"id", trace}}, &RemoteModel::take_trace);
}

void RemoteModel::take_trace(Frame answer) {
  received_ = true;
  received_input_ = input_;
  send({{"message", "close"}, {"id", trace_}}, &RemoteModel::take_closed);
  const auto frame = std::make_shared<const Frame>(std::move(answer));
  session_.jobs().submit(
      tr("Receiving %1").arg(QString::fromStdString(place_.path)),
      [this, frame](const Progress&) -> JobQueue::Delivery {
        auto trace = std::make_shared<const Trace>(shown_trace(*frame));
        return [this, trace] { show(trace); };
      },
      [this](const JobFailure& failure) {
        failure.cancelled ? say({}) : stop(QString::fromStdString(failure.what));
      },
      this);
}

void RemoteModel::take_closed(Frame) { run(); }  // the input may have changed in the meantime

void RemoteModel::show(const std::shared_ptr<const Trace>& trace) {
  const bool awaits_more = next_ == &RemoteModel::take_run || next_ == &RemoteModel::take_trace;
  if (!lost_ && !awaits_more) say({});
  if (session_.find(subject_)) return session_.take_contents(subject_, {nullptr, trace}, "");
  const std::string name = tr("%1 on %2").arg(model_name(), host_name()).toStdString();
  subject_ = session_.add_trace(trace, name);
  session_.rename(subject_, name);  // it stays with other traces
}

}  // namespace attnscope
