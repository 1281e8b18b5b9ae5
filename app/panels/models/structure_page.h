// Structure of the selected model: layers, parts, tensors, assumptions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/panels/frame/dock_panel.h"
#include "core/architecture/model_options.h"
#include "core/architecture/model_structure.h"

class QLabel;
class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace attnscope {

class Session;

class StructurePage : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Structure");

  explicit StructurePage(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// Empty, because the search text is not kept in sessions.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  [[nodiscard]] bool is_stopped() const override { return stopped_ && isVisible(); }
  void resume() override;

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The model that a tree shows.
  struct Shown {
    std::filesystem::path file;
    ModelOptions options;
    std::int64_t first_layer = 0;
    bool operator==(const Shown&) const = default;
  };
  [[nodiscard]] std::optional<Shown> wanted() const;
  void refresh();
  void show_structure(const StructureNode& model, const QString& problem);
  void find_words(const QString& words);

  Session& session_;
  QLabel* facts_;
  QLineEdit* words_;
  QTreeWidget* tree_;
  std::optional<Shown> asked_, shown_;
  bool stopped_ = false;  ///< stopped before asked_ was shown
};

}  // namespace attnscope
