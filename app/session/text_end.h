// Where one looks at a text from.
#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

class Session;

/// Selects the last token of a new text: what counts for it is asked first. A session that is
/// restored keeps its own query.
class TextEnd : public QObject {
  Q_OBJECT
 public:
  explicit TextEnd(Session& session, QObject* parent = nullptr);

 private:
  void follow();

  Session& session_;
  std::vector<std::string> followed_;    // the text that was last looked at from its end
  std::optional<std::string> restored_;  // the input of a session whose query is kept
};

}  // namespace attnscope
