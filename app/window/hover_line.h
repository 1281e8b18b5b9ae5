// The value under the cursor in words: layer, head, query and key, and the value in each subject.
#pragma once

#include <QLabel>

namespace attnscope {

class AtlasLink;
class Session;
struct HoveredCell;
struct OpenSubject;

class HoverLine : public QLabel {
  Q_OBJECT
 public:
  HoverLine(Session& session, AtlasLink& link, QWidget* parent = nullptr);

 private:
  void refresh();
  [[nodiscard]] QString value_in(const OpenSubject& open, const HoveredCell& hover) const;

  Session& session_;
  AtlasLink& link_;
};

}  // namespace attnscope
