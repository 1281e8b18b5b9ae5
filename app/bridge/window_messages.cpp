#include "app/bridge/window_messages.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/training_steps.h"
#include "core/shown_text.h"
#include "core/text/failure.h"
#include "core/trace/trace.h"
#include "core/wire/shown_trace.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr std::size_t kLongestName = 200;      // bytes
constexpr std::size_t kMostOpened = 64;        // files of one message
constexpr std::int64_t kLastStep = 1LL << 53;  // the last whole number that every JSON parser keeps

/// The text of a member that may be missing.
std::string optional_text(const json& header, const char* key) {
  const auto found = header.find(key);
  if (found == header.end() || found->is_null()) return {};
  if (!found->is_string() || found->get_ref<const std::string&>().size() > kLongestName) {
    throw invalid_member(header, key,
                         "a text of at most " + std::to_string(kLongestName) + " bytes");
  }
  return shown_text(found->get_ref<const std::string&>());
}

std::optional<std::int64_t> step_of(const json& header) {
  const auto found = header.find("step");
  if (found == header.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_unsigned() ||
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(kLastStep)) {
    throw invalid_member(header, "step", "a whole number from 0 to 2^53");
  }
  return found->get<std::int64_t>();
}

std::vector<std::filesystem::path> paths_of(const json& header) {
  const auto found = header.find("paths");
  const auto is_path = [](const json& path) {
    return path.is_string() && path.get_ref<const std::string&>().starts_with('/');
  };
  if (found == header.end() || !found->is_array() || found->empty() ||
      found->size() > kMostOpened || !std::ranges::all_of(*found, is_path)) {
    throw invalid_member(header, "paths", "1 to 64 absolute paths");
  }
  std::vector<std::filesystem::path> paths;
  for (const json& path : *found) {
    std::error_code ignored;
    paths.emplace_back(path.get<std::string>());
    if (!std::filesystem::exists(paths.back(), ignored)) {
      throw Error(ErrorKind::io, "the file does not exist").in_file(paths.back());
    }
  }
  return paths;
}

std::uint64_t bytes_of(const Trace& trace) {
  std::int64_t numbers = trace.embedded.size(), bytes = 0;
  for (const LayerTrace& layer : trace.layers) {
    bytes += layer.implied_map.bytes();
    numbers += layer.queries.size() + layer.keys.size() + layer.values.size() + layer.tokens.size();
    if (layer.exact_map) numbers += 2 * std::ssize(*layer.exact_map);
    for (const auto& [name, tensor] : layer.quantities) numbers += tensor.size();
  }
  return static_cast<std::uint64_t>(bytes) + static_cast<std::uint64_t>(numbers) * sizeof(float);
}

}  // namespace

WindowMessages::WindowMessages(Session& session, Window window, std::uint64_t most_bytes,
                               QObject* parent)
    : QObject(parent), session_(session), window_(std::move(window)), most_bytes_(most_bytes) {}

void WindowMessages::handle(Frame message, const SendAnswer& answer) {
  const std::string what = optional_text(message.header, "message");
  if (what == "hello") return hello(message, answer);
  if (what == "open") return open(message, answer);
  if (what == "show") return show(std::move(message), answer);
  if (what == "close") return close(message, answer);
  throw unknown_name("message", what, "hello, open, show, close");
}

void WindowMessages::hello(const Frame& message, const SendAnswer& answer) const {
  check_version(message.header);
  json models = json::array();
  for (const OpenSubject& open : session_.subjects()) models.push_back(open.subject.label);
  answer({{"ok", true},
          {"version", kProtocolVersion},
          {"program", ATTNSCOPE_VERSION},
          {"models", std::move(models)}});
}

void WindowMessages::open(const Frame& message, const SendAnswer& answer) {
  const std::vector<std::filesystem::path> paths = paths_of(message.header);
  answer({{"ok", true}});
  // A file may open a dialog, for which the connection does not wait.
  QMetaObject::invokeMethod(
      this,
      [this, paths] {
        for (const std::filesystem::path& path : paths) window_.open(path);
      },
      Qt::QueuedConnection);
}

void WindowMessages::show(Frame message, const SendAnswer& answer) {
  const std::string name = optional_text(message.header, "name");
  const std::optional<std::int64_t> step = step_of(message.header);
  const auto frame = std::make_shared<const Frame>(std::move(message));
  session_.jobs().submit(
      tr("Receiving %1").arg(QString::fromStdString(name.empty() ? "maps" : name)),
      [this, frame, name, step, answer](const Progress&) -> JobQueue::Delivery {
        try {
          auto trace = std::make_shared<const Trace>(shown_trace(*frame));
          return [this, name, step, answer, trace] {
            try {
              const std::string& known = name.empty() ? trace->model_name : name;
              take(known.empty() ? "maps" : known, step, trace);
              answer({{"ok", true}});
            } catch (const Error& error) {
              answer(answer_of(error));
            }
          };
        } catch (const std::exception& failure) {
          return [answer, error = as_error(failure)] { answer(answer_of(error)); };
        }
      },
      [answer](const JobFailure& failure) {
        answer(answer_of(Error(ErrorKind::io, failure.cancelled
                                                  ? "the user cancelled the message in the window"
                                                  : failure.what)));
      },
      this);
}

void WindowMessages::take(const std::string& name, std::optional<std::int64_t> step,
                          std::shared_ptr<const Trace> trace) {
  if (!step) {
    SubjectId& subject = shown_[name];
    if (session_.find(subject)) {
      session_.take_contents(subject, {nullptr, std::move(trace)}, "");
    } else {
      subject = session_.add_trace(std::move(trace), name);
    }
    return session_.rename(subject, name);
  }
  TrainingSteps& trainings = window_.trainings();
  std::uint64_t bytes = bytes_of(*trace);
  for (const TrainingSteps::Series& one : trainings.series()) {
    for (const auto& [at, sent] : one.sent) bytes += bytes_of(*sent);
  }
  if (bytes > most_bytes_) {
    throw Error(ErrorKind::usage, "the maps of all steps exceed the limit of memory")
        .about(name)
        .expected("at most " + std::to_string(most_bytes_ >> 20) + " MiB")
        .found(std::to_string(bytes >> 20) + " MiB with step " + std::to_string(*step))
        .remedy("show fewer steps or layers, or close models in the window");
  }
  with_steps_[name] = trainings.add(name, *step, std::move(trace));
}

void WindowMessages::close(const Frame& message, const SendAnswer& answer) {
  const std::string name = optional_text(message.header, "name");
  bool any = false;
  for (auto* const models : {&shown_, &with_steps_}) {
    const auto found = models->find(name);
    if (found == models->end()) continue;
    any = any || session_.find(found->second);
    session_.close(found->second);
    models->erase(found);
  }
  if (!any) {
    throw Error(ErrorKind::usage, "no open model was shown under this name")
        .about("name")
        .found(name);
  }
  answer({{"ok", true}});
}

}  // namespace attnscope
