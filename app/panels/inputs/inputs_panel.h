// The current input of the models, the samples, and fields to open another.
#pragma once

#include <QPixmap>
#include <QTimer>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "app/panels/frame/dock_panel.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QPlainTextEdit;
class QSpinBox;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class Session;
struct Input;

class InputsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Input");

  InputsPanel(Session& session, std::vector<std::filesystem::path> samples,
              QWidget* parent = nullptr);

  /// Empty, because the session itself keeps the input.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 protected:
  void resizeEvent(QResizeEvent* event) override;
  /// Enter in the text field puts a question; Escape takes back one that is being typed.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();
  void show_picture(bool failed);
  void arrange_samples();
  /// Greys the samples that no open model reads, and says why.
  void show_readable();
  /// Runs on a sample; for one that no open model reads, offers the sample model that does.
  void choose_sample(std::size_t index);
  [[nodiscard]] bool reads(const std::filesystem::path& sample) const;
  void show_text_field();
  void run_on_what_is_typed();
  /// The locator of the pictures that typed texts are about, if an open model reads both; else
  /// empty.
  [[nodiscard]] std::string picture_asked_about() const;
  /// True if the typed text is a question about pictures or a message, which end with Enter.
  [[nodiscard]] bool asks() const;
  /// Restores the text of the input.
  void take_back();
  /// Puts the question that is typed to pictures that were chosen after it.
  void ask_again();

  Session& session_;
  std::vector<std::filesystem::path> samples_;
  QLabel* picture_;
  std::shared_ptr<const Input> pictured_;  ///< null: picture_ is a symbol
  ElidedLabel* name_;
  QLabel* detail_;
  QWidget* item_row_;
  QSpinBox* item_;
  QPlainTextEdit* text_;
  QCheckBox* chat_;
  QPlainTextEdit* second_text_;  // second text of a pair
  QTimer typing_;
  QGridLayout* grid_;
  QToolButton* keep_;  // duplicates the selected model on this input
  std::vector<QToolButton*> thumbnails_;
  std::vector<QPixmap> pictures_;  // the samples, as many as thumbnails_
  int columns_ = 0;
};

}  // namespace attnscope
