// The context menu of an atlas, with actions for a map and its subject.
#pragma once

#include <QObject>
#include <QPoint>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/canvas/atlas_layout.h"
#include "app/session/subject_id.h"
#include "core/parameters/parameters.h"

class QMenu;
class QWidget;

namespace attnscope {

class AtlasLink;
class Session;
class ShownMaps;

class MapMenu : public QObject {
  Q_OBJECT
 public:
  MapMenu(Session& session, AtlasLink& link, QWidget& window);

  /// Opens the menu for a cell, or for a subject if the position is outside its maps.
  void open(SubjectId subject, const std::optional<MapCell>& cell, QPoint global);
  /// Copies the value under the cursor, to all digits that it has; empty if there is none.
  QString copy_value();
  void fill(QMenu& menu, SubjectId subject, const std::optional<MapCell>& cell);

 signals:
  /// `subjects`: as of FigurePanel::export_wanted.
  void export_wanted(const std::string& recipe, const ParameterValues& settings,
                     const std::vector<std::size_t>& subjects);
  void panel_wanted(const QString& name);

 private:
  void add_map_actions(QMenu& menu, SubjectId subject, const MapCell& cell);
  void add_subject_actions(QMenu& menu, SubjectId subject);
  void copy_picture(const ShownMaps& maps, const MapCell& cell);

  Session& session_;
  AtlasLink& link_;
  QWidget& window_;
};

/// Settings of the figure of maps for the selected maps, with the view's identity mapping,
/// threshold, colours and range.
[[nodiscard]] ParameterValues shown_map_settings(const Session& session);

/// Adds the menu "Without this head", replacements of a head's map while the model runs, for a head
/// of a subject that has a model; adds nothing for a trace.
void add_ablation_menu(QMenu& menu, Session& session, SubjectId subject, std::int64_t layer,
                       std::int64_t head);

}  // namespace attnscope
