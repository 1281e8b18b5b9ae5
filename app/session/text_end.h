// Selection of the last token of a new text.
#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

class Session;

/// Selects the last token of a new text, because its keys are asked for first. A restored session
/// keeps its own query.
class TextEnd : public QObject {
  Q_OBJECT
 public:
  explicit TextEnd(Session& session, QObject* parent = nullptr);

 private:
  void follow();

  Session& session_;
  std::vector<std::string> followed_;    // the last text whose end was selected
  std::optional<std::string> restored_;  // input of a restored session, whose query is kept
};

}  // namespace attnscope
