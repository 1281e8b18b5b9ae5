// Carries out the messages of other programs in the session of a window (docs/protocol.md).
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/bridge/answer.h"
#include "app/session/subject_id.h"
#include "core/wire/frame.h"

namespace attnscope {

class Session;
class TrainingSteps;
struct Trace;

/// Lives on the window's thread, next to its session.
class WindowMessages : public QObject {
  Q_OBJECT
 public:
  /// The parts of a window that messages need.
  struct Window {
    /// Opens a file or folder as if it was dropped on the window, and brings the window to the
    /// front.
    std::function<void(const std::filesystem::path&)> open;
    /// The trainings of the window, in which maps with steps are shown.
    std::function<TrainingSteps&()> trainings;
  };

  /// `most_bytes`: limit of all maps with steps that are shown.
  WindowMessages(Session& session, Window window, std::uint64_t most_bytes,
                 QObject* parent = nullptr);

  /// Carries out a message and answers it. Throws Error(usage) for an unknown message and for one
  /// with an invalid member.
  void handle(Frame message, const SendAnswer& answer);

 private:
  void hello(const Frame& message, const SendAnswer& answer) const;
  void open(const Frame& message, const SendAnswer& answer);
  void show(Frame message, const SendAnswer& answer);
  void close(const Frame& message, const SendAnswer& answer);
  void take(const std::string& name, std::optional<std::int64_t> step,
            std::shared_ptr<const Trace> trace);

  Session& session_;
  Window window_;
  std::uint64_t most_bytes_;
  std::map<std::string, SubjectId> shown_, with_steps_;  ///< models by name, without and with steps
};

}  // namespace attnscope
