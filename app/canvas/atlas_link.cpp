#include "app/canvas/atlas_link.h"

#include <algorithm>
#include <utility>

#include "app/session/session.h"

namespace attnscope {

AtlasLink& AtlasLink::of(Session& session) {
  auto* link = session.findChild<AtlasLink*>(QString(), Qt::FindDirectChildrenOnly);
  return link != nullptr ? *link : *new AtlasLink(session);
}

AtlasLink::AtlasLink(Session& session) : QObject(&session), session_(session) {
  connect(&session, &Session::subjects_changed, this, &AtlasLink::forget_closed_subjects);
}

void AtlasLink::fit() {
  if (view_ == View::fit) return;
  view_ = View::fit;
  emit zoom_changed(true);
}

void AtlasLink::show_map(std::int64_t layer, std::int64_t column) {
  if (view_ == View::map && map_layer_ == layer && map_column_ == column) return;
  view_ = View::map;
  map_layer_ = layer;
  map_column_ = column;
  emit zoom_changed(true);
}

void AtlasLink::set_zoom(const AtlasZoom& zoom) {
  view_ = View::free;
  zoom_ = zoom;
  emit zoom_changed(false);
}

void AtlasLink::reserve(const QMarginsF& margins) {
  if (margins == reserved_) return;
  reserved_ = margins;
  if (view_ == View::fit) emit zoom_changed(false);
}

void AtlasLink::set_hover(const std::optional<Hover>& hover) {
  if (hover == hover_) return;
  hover_ = hover;
  emit hover_changed();
}

AtlasLink::Shown* AtlasLink::shown(std::int64_t subject_id) {
  const std::shared_ptr<const Trace> trace = session_.trace(session_.index_of(subject_id));
  if (!trace) {
    shown_.erase(subject_id);
    return nullptr;
  }
  Shown& shown = shown_[subject_id];
  const ValueSettings settings(session_.view());
  if (shown.trace != trace || !(shown.maps->settings() == settings)) {
    shown.trace = trace;
    shown.maps = std::make_shared<const ShownMaps>(trace, settings);
    shown.statistics = std::make_unique<const ValueStatistics>(value_statistics(*shown.maps));
  }
  return &shown;
}

void AtlasLink::forget_closed_subjects() {
  std::erase_if(shown_, [this](const auto& entry) { return session_.index_of(entry.first) < 0; });
}

std::shared_ptr<const ShownMaps> AtlasLink::maps(std::int64_t subject_id) {
  const Shown* found = shown(subject_id);
  return found != nullptr ? found->maps : nullptr;
}

std::vector<const ValueStatistics*> AtlasLink::all_statistics() {
  std::vector<const ValueStatistics*> all;
  for (const OpenSubject& subject : session_.subjects()) {
    if (const Shown* found = shown(subject.id)) all.push_back(found->statistics.get());
  }
  return all;
}

ValueRange AtlasLink::range() { return shared_range(all_statistics(), session_.view()); }

ValueRange AtlasLink::full_range() {
  ValueRange range{0, 0, false, false};
  bool first = true;
  for (const ValueStatistics* one : all_statistics()) {
    if (one->finite == 0) continue;
    range.minimum = first ? one->minimum : std::min(range.minimum, one->minimum);
    range.maximum = first ? one->maximum : std::max(range.maximum, one->maximum);
    first = false;
  }
  return range;
}

std::int64_t AtlasLink::cells_without_value(std::int64_t subject_id) {
  const Shown* found = shown(subject_id);
  return found != nullptr ? found->statistics->not_finite : 0;
}

}  // namespace attnscope
