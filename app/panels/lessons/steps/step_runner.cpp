#include "app/panels/lessons/steps/step_runner.h"

#include <QTimer>
#include <algorithm>
#include <optional>
#include <span>
#include <sstream>

#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

struct KnownCommand {
  std::string_view name;
  std::size_t words;  ///< least number of words
  std::vector<std::string_view> keys;
  bool any_key = false;  ///< accepts a mechanism's parameters, or a panel's controls
};

std::span<const KnownCommand> known_commands() {
  static const KnownCommand list[] = {
      {"close", 0, {}},
      {"open", 1, {}},
      {"input", 1, {}},
      {"overlay", 2, {}, true},
      {"select", 0, {"model", "layer", "head", "query"}},
      {"view", 0, {"identity", "threshold", "share", "temperature", "heads"}},
      {"plain", 0, {}},
      {"panel", 1, {}, true},
  };
  return list;
}

std::int64_t whole_number(const std::string& text) {
  if (const auto value = parse_whole(text)) return *value;
  throw Error(ErrorKind::damaged, "a step needs an integer").found(text);
}

double number(const std::string& text) {
  if (const auto value = parse_number(text)) return *value;
  throw Error(ErrorKind::damaged, "a step needs a number").found(text);
}

void set_view(Session& session, const std::map<std::string, std::string>& values) {
  ViewSettings view = session.view();
  for (const auto& [key, value] : values) {
    if (key == "threshold") view.rank_threshold.level = number(value);
    if (key == "share") {
      view.rank_threshold.of = value_of(rank_share_names, value, "share of the threshold");
    }
    if (key == "temperature") view.temperature = number(value);
    if (key == "identity") view.identity = value_of(identity_view_names, value, "view");
    if (key == "heads") view.head_fusion = value_of(head_fusion_names, value, "view of heads");
  }
  session.set_view(view);
}

/// The model with this number, counted from 1; none if there are fewer.
SubjectId subject_at(const Session& session, const std::string& number) {
  const std::int64_t place = whole_number(number) - 1;
  const bool exists = place >= 0 && place < std::ssize(session.subjects());
  return exists ? session.subjects()[static_cast<std::size_t>(place)].id : SubjectId::none;
}

void select(Session& session, const std::map<std::string, std::string>& values) {
  Selection selection = session.selection();
  std::optional<std::int64_t> query;
  for (const auto& [key, value] : values) {
    if (key == "model") selection.subject = subject_at(session, value);
    if (key == "layer") selection.layer = whole_number(value);
    if (key == "head") selection.head = whole_number(value);
    if (key == "query") query = whole_number(value);
  }
  session.select_map(selection.subject, selection.layer, selection.head);
  if (!query) return;
  selection = session.selection();
  selection.query = *query;
  session.select(selection);
}

/// Closes all models in one change, which one undo reverts.
void close_all(Session& session) {
  SessionState state = session.state();
  state.subjects.clear();
  state.reference = SubjectId::none;
  session.set_state(state);
}

/// Opens the model unless it is open already, and returns it.
SubjectId open_model(Session& session, LessonLoan& loan, const std::string& name) {
  const std::filesystem::path file = sample_file("models", name);
  const auto known = std::ranges::find_if(session.subjects(), [&](const OpenSubject& open) {
    return open.file == file && !open.overlay;
  });
  if (known != session.subjects().end()) return known->id;
  const SubjectId opened = session.open(file);
  loan.note_opened(opened);
  return opened;
}

SubjectId overlay(Session& session, LessonLoan& loan, const StepCommand& command) {
  const SubjectId subject = subject_at(session, command.words[0]);
  const MechanismEntry& entry = find_mechanism(command.words[1]);
  MechanismChoice choice{std::string(entry.name), {}};
  for (const auto& [key, value] : command.values) {
    choice.parameters[key] =
        parse_parameter(description_of(choice.name, entry.parameters, key), value);
  }
  const SubjectId laid = session.overlay(subject, choice);
  if (laid == SubjectId::none) {
    throw Error(ErrorKind::usage, "there is no model to lay the mechanism over")
        .found("model " + command.words[0])
        .remedy("run the steps before this one");
  }
  loan.note_opened(laid);
  return laid;
}

/// The words of a line. A part between quotes may have spaces, as in training_preset="The Adder
/// paper"; the quotes are left out. Throws Error(damaged) if a quote is never closed.
std::vector<std::string> words_of_command(const std::string& line, int number) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char sign : line) {
    const bool space = !quoted && (sign == ' ' || sign == '\t' || sign == '\r');
    if (sign == '"') quoted = !quoted;
    if (!space && !open) words.emplace_back();
    open = !space;
    if (!space && sign != '"') words.back() += sign;
  }
  if (quoted) {
    throw Error(ErrorKind::damaged, "a quote in a step is never closed")
        .about("line " + std::to_string(number))
        .found(line);
  }
  return words;
}

}  // namespace

std::filesystem::path sample_file(std::string_view folder, const std::string& name) {
  const std::filesystem::path samples = sample_data_folder() / folder;
  std::error_code ignored;
  for (const char* extension : {"", ".h5", ".safetensors", ".png", ".txt"}) {
    std::filesystem::path file = samples / (name + extension);
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return name;
}

std::vector<StepCommand> parse_step(std::string_view commands) {
  std::vector<StepCommand> list;
  std::istringstream lines{std::string(commands)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::vector<std::string> words = words_of_command(line, number);
    if (words.empty()) continue;
    StepCommand command;
    command.name = words.front();
    const auto known = std::ranges::find(known_commands(), command.name, &KnownCommand::name);
    if (known == known_commands().end()) {
      throw unknown_name("command of a step", command.name,
                         name_list(known_commands(), &KnownCommand::name));
    }
    for (const std::string& word : std::span(words).subspan(1)) {
      const std::size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      const bool is_key =
          known->any_key || std::ranges::find(known->keys, key) != known->keys.end();
      if (equals == std::string::npos || (known->keys.empty() && !known->any_key)) {
        command.words.push_back(word);
      } else if (is_key) {
        command.values[key] = word.substr(equals + 1);
      } else {
        throw unknown_name("key of " + command.name, key, name_list(known->keys));
      }
    }
    if (command.words.size() < known->words) {
      throw Error(ErrorKind::damaged, "a command of a step lacks arguments")
          .about("line " + std::to_string(number))
          .found(line);
    }
    list.push_back(std::move(command));
  }
  return list;
}

StepRunner::StepRunner(Session& session, LessonLoan& loan, QObject* parent)
    : QObject(parent), session_(session), loan_(loan) {
  connect(&session_.jobs(), &JobQueue::became_idle, this, [this] {
    // The next command waits for jobs that the end of the last one starts.
    QTimer::singleShot(0, this, &StepRunner::resume);
  });
}

void StepRunner::run(std::string_view commands) {
  std::vector<StepCommand> parsed;
  try {
    parsed = parse_step(commands);
  } catch (const Error& error) {
    emit finished(QString::fromStdString(error.in_window()));
    return;
  }
  loan_.borrow();
  if (waiting_.empty()) {
    changed_.clear();
    opened_.clear();
  }
  waiting_.insert(waiting_.end(), parsed.begin(), parsed.end());
  resume();
}

void StepRunner::resume() {
  while (!waiting_.empty() && session_.idle()) {
    const StepCommand command = waiting_.front();
    waiting_.pop_front();
    try {
      run(command);
    } catch (const Error& error) {
      waiting_.clear();
      emit finished(QString::fromStdString(error.in_window()));
      return;
    }
    if (!waiting_.empty()) continue;
    emit changed(changed_parts());
    emit finished({});
  }
}

void StepRunner::note_changes(const StepCommand& command) {
  const auto sets = [&command](const char* key) { return command.values.contains(key); };
  if (command.name == "select" && (sets("layer") || sets("head"))) changed_ << "map";
  if (command.name == "panel") changed_ << "dock:" + QString::fromStdString(command.words[0]);
  if (command.name != "view") return;
  if (sets("identity")) changed_ << "identity_0+identity_1+identity_2";
  if (sets("threshold")) changed_ << "rank_threshold";
  if (sets("share")) changed_ << "rank_share";
  if (sets("temperature") || sets("heads")) changed_ << "maps";
}

QStringList StepRunner::changed_parts() const {
  QStringList parts = changed_;
  parts.removeDuplicates();
  // A selected map is among those of a model that the step has opened.
  if (parts.contains("map")) return parts;
  for (const SubjectId subject : opened_) {
    if (const std::int64_t place = session_.place_of(subject); place >= 0) {
      parts << QString("maps_%1").arg(place + 1);
    }
  }
  return parts;
}

void StepRunner::run(const StepCommand& command) {
  note_changes(command);
  if (command.name == "close") {
    close_all(session_);
  } else if (command.name == "open") {
    opened_.push_back(open_model(session_, loan_, command.words[0]));
  } else if (command.name == "input") {
    std::string locator = command.words[0];
    for (std::size_t i = 1; i < command.words.size(); ++i) locator += " " + command.words[i];
    const std::string file = sample_file("inputs", locator).string();
    if (session_.input_locator() != file) session_.set_input(file);
  } else if (command.name == "overlay") {
    opened_.push_back(overlay(session_, loan_, command));
  } else if (command.name == "select") {
    select(session_, command.values);
  } else if (command.name == "view") {
    set_view(session_, command.values);
  } else if (command.name == "plain") {
    // The view in which a lesson's numbers hold: attention maps as the models have them, whole,
    // with the equivalent rank at 0.9 in their corners.
    ViewSettings view = session_.view();
    copy_lesson_view(ViewSettings{}, view);
    session_.set_view(view);
  } else if (command.name == "panel") {
    const QString panel = QString::fromStdString(command.words[0]);
    emit panel_wanted(panel);
    if (!command.values.empty()) emit controls_wanted(panel, command.values);
  }
}

}  // namespace attnscope
