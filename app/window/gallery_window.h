// The papers' figures, drawn from the open subjects.
#pragma once

#include <QDialog>
#include <QTimer>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/figure/gallery.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace attnscope {

class Session;

class GalleryWindow : public QDialog {
  Q_OBJECT
 public:
  explicit GalleryWindow(Session& session, QWidget* parent = nullptr);

 signals:
  /// Emitted when the user exports a figure.
  void export_wanted(const std::string& recipe, const ParameterValues& settings,
                     const std::vector<std::size_t>& subjects);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  struct Card {
    const GalleryEntry* entry;
    QLabel* picture;
    QLabel* state;
    QPushButton* exporting;
    GalleryItem item;
    std::vector<std::size_t> subjects;
    std::int64_t job = 0;
  };

  QWidget* make_card(const GalleryEntry& entry);
  void want();
  void draw_all();
  void draw(std::size_t index);
  void show_missing(Card& card, const QString& why);

  Session& session_;
  QLineEdit* data_set_;
  QLabel* summary_;
  std::vector<Card> cards_;
  QTimer delay_;
  std::int64_t wanted_ = 0;
};

}  // namespace attnscope
