// Badge with the number and colour that a model has everywhere: in lists, over atlases, next to
// curves.
#pragma once

#include <QWidget>

namespace attnscope {

class SubjectBadge : public QWidget {
  Q_OBJECT
 public:
  explicit SubjectBadge(std::int64_t subject, QWidget* parent = nullptr);
  void set_subject(std::int64_t subject);
  [[nodiscard]] QSize sizeHint() const override { return {16, 16}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::int64_t subject_;
};

}  // namespace attnscope
