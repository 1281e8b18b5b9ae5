// attnscope gui [MODEL…]: opens the window, or writes a picture of it with --screenshot; and
// attnscope without a subcommand. With nothing to open, both open the first minute.
#include <QPixmap>
#include <QStandardPaths>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/bridge/listener.h"
#include "app/bridge/remote_model.h"
#include "app/bridge/window_messages.h"
#include "app/bridge/window_socket.h"
#include "app/canvas/graphics.h"
#include "app/cli/command_table.h"
#include "app/cli/display.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/panels/panels.h"
#include "app/render/application.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/session/training_steps.h"
#include "app/window/dropped_file.h"
#include "app/window/first_minute.h"
#include "app/window/frame_pace.h"
#include "app/window/main_window.h"
#include "app/window/notice_bar.h"
#include "app/window/preferences.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/input/input.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct GuiOptions {
  std::vector<std::string> models;    ///< MODEL arguments without an input of their own
  std::vector<RemotePlace> remotes;   ///< models on other machines
  std::string input;                  ///< a locator; empty: no input
  std::filesystem::path session;      ///< restored first; empty: no session
  std::filesystem::path screenshot;   ///< written once the window has settled, which then closes
  std::filesystem::path frame_times;  ///< CSV file written at the end; empty: none
  int width = 1600, height = 1000;    ///< logical pixels, at most those of the screen
  std::vector<std::string> panels;    ///< names of the panels brought to the front
  std::filesystem::path lesson;       ///< a lesson file (Markdown); empty: none
  std::filesystem::path watch;        ///< folder of a training that may go on; empty: none
  std::string theme;                  ///< "dark" or "light"; empty: as in the last run
  bool empty = false;                 ///< opens neither samples nor the last session
  std::optional<std::uint16_t> port;  ///< port of the loopback interface; 0: any
  double message_memory = 1;          ///< GiB of messages that are received at a time
  bool samples_if_empty = false;  ///< opens the first minute unless the last session is reopened
};

constexpr int kPollMs = 60;
// The window must be settled in this many polls in a row, because a result may start another job.
constexpr int kStillLooks = 4;

std::filesystem::path autosave_folder() {
  return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString();
}

/// Opens MODEL with the settings after its @.
void open_model(Session& session, const std::string& text) {
  const ModelArgument argument = split_without_input(text);
  if (argument.mechanism.empty() && !argument.settings.empty()) {
    throw Error(ErrorKind::usage, "settings need the name of their mechanism")
        .expected("MODEL@MECHANISM,KEY=VALUE")
        .found(text);
  }
  const SubjectId subject = session.open(argument.file, options_of({}, argument));
  if (!argument.channel.empty()) session.set_channel(subject, parse_channel(argument.channel));
  if (argument.mechanism.empty()) return;
  session.set_overlay(subject, choose_mechanism(argument.mechanism, argument.settings, {}));
}

/// The use of a word given as MODEL; pictures with + between them are one input.
FileUse use_of_word(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return use_of(word);
  const std::vector<std::string> pictures = picture_locators(word);
  return are_pictures({pictures.begin(), pictures.end()}) ? FileUse::input : FileUse::model;
}

/// Sorts the files given as MODEL by their use: `attnscope gui vit.pt cat.png`.
void take_files(const std::vector<std::string>& files, GuiOptions& options) {
  for (const std::string& file : files) {
    if (is_remote(file)) {
      options.remotes.push_back(remote_place(file));
      continue;
    }
    const FileUse use = use_of_word(file);
    if (use == FileUse::input && options.input.empty()) {
      options.input = input_locator_of(file);
    } else if (use == FileUse::session && options.session.empty()) {
      options.session = file;
    } else if (use == FileUse::input) {
      throw Error(ErrorKind::usage, "the window can be opened on only one input")
          .found(options.input + " and " + file)
          .remedy("pictures for one text are one input: FIRST.png+SECOND.png");
    } else if (use == FileUse::session) {
      throw Error(ErrorKind::usage, "only one session can be restored").found(file);
    } else {
      options.models.push_back(file);
    }
  }
}

/// The locator of a text about pictures that follow the model.
std::string asked_about(const std::string& pictures, const std::string& text) {
  if (!pictures.empty()) return question_locator(pictures, text);
  throw Error(ErrorKind::usage, "a text about a picture is given without the picture")
      .about("--prompt")
      .expected("--input PICTURE, or a picture after MODEL");
}

/// All files that the window reads.
std::vector<std::filesystem::path> gui_files_read(const Session& session,
                                                  const GuiOptions& options) {
  std::vector<std::filesystem::path> files = {options.session, options.lesson};
  const auto add_input = [&files](const std::string& locator) {
    for (const std::filesystem::path& file : files_of_locator(locator)) files.push_back(file);
  };
  add_input(session.input_locator());
  for (const OpenSubject& open : session.subjects()) {
    for (const std::filesystem::path& file : weight_files(open.file)) files.push_back(file);
    files.push_back(open.options.description);
    add_input(open.subject.own_input);
  }
  return files;
}

void shoot(MainWindow& window, const std::filesystem::path& file) {
  AtomicFile target(file);
  if (!window.grab().save(QString::fromStdString(target.temporary().string()), "PNG")) {
    throw Error(ErrorKind::io, "the screenshot could not be written").in_file(file);
  }
  target.commit();
}

std::uint64_t bytes_of_gib(double gib) { return static_cast<std::uint64_t>(gib * (1 << 30)); }

/// Receives messages of other programs while the window is open.
class WindowBridge {
 public:
  WindowBridge(MainWindow& window, Session& session, double gib)
      : messages_(session,
                  {[&window](const std::filesystem::path& file) { open_in(window, file); },
                   [&window]() -> TrainingSteps& { return trainings_of(window); }},
                  bytes_of_gib(kStepsPerMessage * gib)),
        listener_(
            [this](Frame message, const SendAnswer& answer) {
              messages_.handle(std::move(message), answer);
            },
            bytes_of_gib(gib)) {
    constexpr int kBetweenTriesMs = 1000;
    again_.setInterval(kBetweenTriesMs);
    QObject::connect(&again_, &QTimer::timeout, &window, [this] { take_socket(); });
  }

  void listen(const std::optional<std::uint16_t>& port) {
    take_socket();
    if (!port) return;
    const std::uint16_t listening = listener_.listen_on(*port);  // which makes the token
    std::printf("ATTNSCOPE_WINDOW=127.0.0.1:%d ATTNSCOPE_TOKEN=%s\n", listening,
                listener_.token().c_str());
    std::fflush(stdout);
  }

 private:
  static constexpr double kStepsPerMessage = 4;

  /// Listens on the user's socket, once no other window has it. A window works without a socket if
  /// there is no place for it.
  void take_socket() {
    again_.stop();
    try {
      if (!listener_.listen(window_socket())) again_.start();
    } catch (const Error& error) {
      std::fprintf(stderr, "attnscope: %s\n", error.what());
    }
  }

  static void open_in(MainWindow& window, const std::filesystem::path& file) {
    window.open_file(file);
    if (window.isMinimized()) window.showNormal();
    window.raise();
    window.activateWindow();
  }

  static TrainingSteps& trainings_of(MainWindow& window) {
    if (auto* const trainings = window.findChild<TrainingSteps*>()) return *trainings;
    window.show_panel("over-training");
    return *window.findChild<TrainingSteps*>();
  }

  WindowMessages messages_;
  Listener listener_;
  QTimer again_;
};

/// Shows what a model on another machine says; `shown` is what it said before. Progress does not
/// replace notices of something else.
void show_status(NoticeBar& notice, QString& shown, const QString& words, bool is_error) {
  const bool is_free = notice.text().isEmpty() || notice.text() == shown;
  if (!is_error && !is_free) return;
  if (words.isEmpty()) return notice.withdraw(shown);
  is_error ? notice.show_error(words) : notice.show_note(words);
  shown = notice.text();
}

/// Shows models on other machines as they arrive: those of the command line, and those that the
/// user asks for in the window.
void connect_remotes(const GuiOptions& options, MainWindow& window, Session& session) {
  auto* const notice = window.findChild<NoticeBar*>();
  const auto open = [&window, &session, notice,
                     bytes = bytes_of_gib(options.message_memory)](const RemotePlace& place) {
    auto* const remote = new RemoteModel(session, place, ssh_command(place), bytes, &window);
    QObject::connect(remote, &RemoteModel::status_changed, notice,
                     [notice, shown = QString()](const QString& words, bool is_error) mutable {
                       show_status(*notice, shown, words, is_error);
                     });
    remote->connect_to_host();
  };
  for (const RemotePlace& place : options.remotes) open(place);
  QObject::connect(&window, &MainWindow::remote_wanted, &window,
                   [open, notice](const QString& address) {
                     try {
                       open(remote_place(address.toStdString()));
                     } catch (const Error& error) {
                       notice->show_error(QString::fromStdString(error.what()));
                     }
                   });
}

/// Runs the window of the session and returns the exit status. Throws Error(io) if the screenshot
/// or the times of frames cannot be written.
int run_window(const GuiOptions& options, Session& session) {
  Preferences preferences = read_preferences();
  std::filesystem::path remembered;
  if (options.screenshot.empty()) remembered = autosave_folder();
  const bool reopens = preferences.reopen && MainWindow::remembers_last(remembered);
  // The first minute's models load on other threads while the window is built.
  if (options.samples_if_empty && !reopens) open_first_minute(session);
  if (!options.theme.empty())
    preferences.theme = options.theme == "light" ? Theme::light : Theme::dark;
  MainWindow window(session, preferences.theme);
  window.set_preferences(preferences);
  const QSize size(options.width, options.height);
  options.screenshot.empty() ? window.resize_within_screen(size) : window.resize(size);
  if (!remembered.empty()) window.remember_between_runs(remembered);
  if (options.samples_if_empty && reopens) (void)window.reopen_last();
  if (options.samples_if_empty && session.subjects().empty()) window.open_samples();
  if (options.samples_if_empty && !reopens && FirstMinuteCard::is_wanted()) {
    window.show_first_minute();
  }
  window.show();
  for (const std::string& panel : options.panels) window.show_panel(panel);
  if (!options.lesson.empty()) window.open_document(options.lesson);
  if (!options.watch.empty()) window.open_document(options.watch);
  // A screenshot must not show an empty window when the session cannot be read, so errors are
  // thrown.
  if (!options.session.empty()) {
    options.screenshot.empty() ? window.restore_session(options.session)
                               : window.open_session(options.session);
  }
  if (!options.input.empty()) session.set_input(options.input);
  for (const std::string& model : options.models) {
    use_of(model) == FileUse::training ? window.open_file(model) : open_model(session, model);
  }

  connect_remotes(options, window, session);
  WindowBridge bridge(window, session, options.message_memory);
  if (options.screenshot.empty()) bridge.listen(options.port);
  for (const std::filesystem::path& written : {options.screenshot, options.frame_times}) {
    if (!written.empty()) refuse_to_overwrite(written, gui_files_read(session, options));
  }
  auto& pace = *window.findChild<FramePace*>();
  if (!options.frame_times.empty()) pace.record();
  std::exception_ptr failure;
  int still = 0;
  QTimer poll;
  QObject::connect(&poll, &QTimer::timeout, &window, [&] {
    still = window.settled() ? still + 1 : 0;
    if (still < kStillLooks) return;
    poll.stop();
    try {
      refuse_to_overwrite_read(options.screenshot);
      shoot(window, options.screenshot);
    } catch (...) {
      failure = std::current_exception();
    }
    QApplication::quit();
  });
  if (!options.screenshot.empty()) poll.start(kPollMs);
  int status = QApplication::exec();
  if (failure) std::rethrow_exception(failure);
  if (!options.frame_times.empty()) {
    refuse_to_overwrite_read(options.frame_times);
    write_file(options.frame_times, frame_times_as_csv(pace.frames()));
  }
  if (options.screenshot.empty()) return status;
  if (const QString why = why_no_graphics(); !why.isEmpty()) {
    std::fprintf(stderr, "attnscope: the picture has no maps. %s\n",
                 QString(why).replace('\n', ' ').toUtf8().constData());
  }
  for (const OpenSubject& open : session.subjects()) {
    if (open.state != OpenSubject::State::failed) continue;
    std::fprintf(stderr, "attnscope: %s\n", open.error.c_str());
    status = 1;
  }
  if (!session.input_error().empty()) {
    std::fprintf(stderr, "attnscope: %s\n", session.input_error().c_str());
    status = 1;
  }
  return status;
}

/// Runs the program with a window and returns the exit status. Throws Error(io) without a display,
/// and like run_window.
int run_gui(const GuiOptions& options) {
  require_display(
      "run it on a desktop, or write the same comparison as files: attnscope first-minute --out "
      "DIR");
  int argc = 1;
  char name[] = "attnscope";
  char* argv[] = {name, nullptr};
  QCoreApplication::setOrganizationName("Attnscope");
  QCoreApplication::setApplicationName("Attnscope");
  QCoreApplication::setApplicationVersion(ATTNSCOPE_VERSION);
  const Application application(argc, argv);
  QGuiApplication::setDesktopFileName("io.github.attnscope.Attnscope");

  load_graphics();
  Session session;
  const int status = run_window(options, session);
  // One step of a job may take many seconds on a busy machine. A closed window does not wait for
  // it: every file is written under a temporary name, and what saves its work has ended.
  constexpr std::chrono::milliseconds longest(400);
  if (!session.jobs().end(longest)) {
    std::fflush(nullptr);
    std::_Exit(status);
  }
  return status;
}

}  // namespace

/// The first minute, softmax next to adder on one image, with nothing to configure.
int run_default_subcommand(int, char**) {
  GuiOptions options;
  options.samples_if_empty = true;
  return run_gui(options);
}

Action add_gui(CLI::App& parent, CLI::App*& added) {
  added = parent.add_subcommand("gui", "Open the window");
  auto options = std::make_shared<GuiOptions>();
  auto size = std::make_shared<std::string>("1600x1000");
  auto models = std::make_shared<ModelArguments>();
  add_model_argument(*added, *models, true, false,
                     "An input or a session may be given here, too: vit.pt cat.png");
  add_input_option(*added, *models, false);
  CLI::Option* const prompt = added->get_option("--prompt");
  prompt->remove_needs(added->get_option("--input"));  // the pictures may follow the model
  added->add_option("--session", options->session, "Restore a saved session")->type_name("FILE");
  added
      ->add_option("--screenshot", options->screenshot,
                   "Wait until everything is drawn, write this PNG, and end")
      ->type_name("FILE");
  add_value_option(*added, "--size", *size, "Size of the window in pixels", "WIDTHxHEIGHT");
  added
      ->add_option("--frame-times", options->frame_times,
                   "Write the times of all frames to this CSV file when the window is closed")
      ->type_name("FILE");
  added
      ->add_option("--watch", options->watch,
                   "Follow a training: show the checkpoints in this folder, and those that appear")
      ->type_name("FOLDER");
  added->add_option("--lesson", options->lesson, "Open a lesson of your own (Markdown)")
      ->type_name("FILE");
  added->add_flag("--empty", options->empty, "Open neither the samples nor the last session");
  added
      ->add_option("--listen", options->port,
                   "Receive messages of other programs on this port of 127.0.0.1, too, and print "
                   "the token that they must send; 0: any free port (docs/protocol.md)")
      ->type_name("PORT");
  add_value_option(*added, "--message-memory", options->message_memory,
                   "Most memory of the messages that are received at a time, in GiB", "GIB")
      ->check(CLI::Range(0.001, 1024.0));
  added
      ->add_option("--panel", options->panels,
                   "Bring this panel to the front: " + name_list(panel_names()))
      ->allow_extra_args(false)
      ->type_name("NAME");
  added
      ->add_option("--theme", options->theme,
                   "Theme of the window; that of the last session if not given")
      ->check(CLI::IsMember({"dark", "light"}))
      ->type_name("dark|light");
  set_examples(*added, {"attnscope gui", "attnscope gui vit.safetensors --input cat.png",
                        "attnscope gui vit.safetensors cat.png",
                        "attnscope gui llava before.png+after.png --prompt \"What changed?\"",
                        "attnscope gui vit.safetensors vit.safetensors@adder --input cat.png",
                        "attnscope gui ssh://host/home/me/vit.safetensors --input cat.png"});
  return [options, size, models, prompt] {
    if (models->inputs.size() > 1) {
      throw Error(ErrorKind::usage, "the window can be opened on only one input").about("--input");
    }
    if (!options->watch.empty() && !std::filesystem::is_directory(options->watch)) {
      throw Error(ErrorKind::usage, "the watched folder does not exist")
          .about("--watch")
          .expected("the folder that a training writes its checkpoints to")
          .found(options->watch.string());
    }
    if (!models->inputs.empty()) {
      const std::string& input = models->inputs.front();
      options->input = input == "-" ? standard_input_file().string() : input;
    }
    take_files(models->models, *options);
    if (prompt->count() > 0 && models->inputs.empty()) {
      options->input = asked_about(options->input, prompt->as<std::string>());
    }
    options->samples_if_empty = !options->empty && options->remotes.empty() &&
                                options->models.empty() && options->input.empty() &&
                                options->session.empty() && options->lesson.empty() &&
                                options->watch.empty();
    char end = 0;
    if (std::sscanf(size->c_str(), "%dx%d%c", &options->width, &options->height, &end) != 2 ||
        options->width < 320 || options->height < 240 || options->width > 16384 ||
        options->height > 16384) {
      throw Error(ErrorKind::usage, "the size of the window is not valid")
          .about("--size")
          .expected("WIDTHxHEIGHT from 320x240 to 16384x16384")
          .found(*size);
    }
    return run_gui(*options);
  };
}

}  // namespace attnscope
