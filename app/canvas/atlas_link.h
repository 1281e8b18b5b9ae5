// What the atlases of a session have in common: one zoom, one crosshair, one range of values.
#pragma once

#include <QMarginsF>
#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/shown_maps.h"
#include "app/canvas/value_range.h"

namespace attnscope {

class Session;

/// Lives as a child of the session, so that atlases find it wherever the window places them.
class AtlasLink : public QObject {
  Q_OBJECT
 public:
  /// The session's link, made by whoever asks first.
  static AtlasLink& of(Session& session);

  // --- the zoom -------------------------------------------------------------------------------
  enum class View {
    fit,  ///< every atlas shows all its maps
    map,  ///< every atlas shows one map, as large as it can
    free  ///< the same zoom everywhere
  };
  [[nodiscard]] View view() const { return view_; }
  [[nodiscard]] std::int64_t map_layer() const { return map_layer_; }
  [[nodiscard]] std::int64_t map_column() const { return map_column_; }
  [[nodiscard]] const AtlasZoom& free_zoom() const { return zoom_; }

  void fit();
  void show_map(std::int64_t layer, std::int64_t column);
  void set_zoom(const AtlasZoom& zoom);

  /// What the lens takes from the fitted maps, in every atlas, so that they stay of one size.
  [[nodiscard]] QMarginsF reserved() const { return reserved_; }
  void reserve(const QMarginsF& margins);

  // --- the map under the cursor; its tokens are in the session's selection -----------------------
  struct Hover {
    std::int64_t subject_id = 0;  ///< whose atlas the cursor is in
    std::int64_t layer = 0, column = 0;

    bool operator==(const Hover&) const = default;
  };
  [[nodiscard]] const std::optional<Hover>& hover() const { return hover_; }
  void set_hover(const std::optional<Hover>& hover);

  // --- the values -------------------------------------------------------------------------------
  /// The maps of a subject as the lens shows them; null until there is a trace.
  [[nodiscard]] std::shared_ptr<const ShownMaps> maps(std::int64_t subject_id);
  /// Over all subjects that have a trace.
  [[nodiscard]] ValueRange range();
  /// Smallest and largest value shown anywhere, I included.
  [[nodiscard]] ValueRange full_range();
  /// Cells without a finite value among those of a subject that were looked at for the range.
  [[nodiscard]] std::int64_t cells_without_value(std::int64_t subject_id);

 signals:
  void zoom_changed(bool smoothly);
  void hover_changed();

 private:
  explicit AtlasLink(Session& session);

  struct Shown {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const ShownMaps> maps;
    std::unique_ptr<const ValueStatistics> statistics;
  };
  Shown* shown(std::int64_t subject_id);
  void forget_closed_subjects();
  std::vector<const ValueStatistics*> all_statistics();

  Session& session_;
  View view_ = View::fit;
  std::int64_t map_layer_ = 0, map_column_ = 0;
  AtlasZoom zoom_;
  QMarginsF reserved_;
  std::optional<Hover> hover_;
  std::map<std::int64_t, Shown> shown_;
};

}  // namespace attnscope
