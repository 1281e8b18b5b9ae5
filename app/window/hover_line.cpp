#include "app/window/hover_line.h"

#include <QStringList>

#include "app/canvas/atlas_link.h"
#include "app/session/session.h"
#include "core/trace/layer_layout.h"
#include "core/trace/trace_channel.h"

namespace attnscope {

HoverLine::HoverLine(Session& session, QWidget* parent) : QLabel(parent), session_(session) {
  setTextFormat(Qt::PlainText);
  setContentsMargins(10, 0, 0, 0);
  setMinimumWidth(0);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(&session_, &Session::selection_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::subjects_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::view_changed, this, &HoverLine::refresh);
  connect(&AtlasLink::of(session_), &AtlasLink::hover_changed, this, &HoverLine::refresh);
  refresh();
}

void HoverLine::refresh() {
  const Selection& selection = session_.selection();
  if (!selection.hover_query || !selection.hover_key) {
    setText(session_.trace(selection.subject)
                ? tr("Layer %1 · head %2 · point at a map to read its values; press ? for keys")
                      .arg(selection.layer)
                      .arg(selection.head)
                : QString());
    return;
  }
  AtlasLink& link = AtlasLink::of(session_);
  const std::int64_t layer = link.hover() ? link.hover()->layer : selection.layer;
  const std::int64_t head = link.hover() ? link.hover()->column : selection.head;
  const std::int64_t query = *selection.hover_query, key = *selection.hover_key;
  QStringList values;
  QString from, to;
  for (std::int64_t i = 0; i < std::ssize(session_.subjects()); ++i) {
    const OpenSubject& open = session_.subjects()[static_cast<std::size_t>(i)];
    const std::shared_ptr<const ShownMaps> maps = link.maps(open.id);
    if (!maps || layer >= maps->grid().layers) continue;
    const std::int64_t column = maps->grid().columns == 1 ? 0 : head;
    if (column >= maps->grid().columns) continue;
    const MapExtent extent = maps->extent(layer, column);
    const std::int64_t row = query - maps->first_token(), place = key - maps->first_token();
    if (row < 0 || place < 0 || row >= extent.queries || place >= extent.keys) continue;
    const QString channel = QString::fromStdString(channel_in_words(*open.subject.trace));
    values << tr("[%1] %2").arg(i + 1).arg(
                  static_cast<double>(maps->value({layer, column, row, place})), 0, 'g', 6) +
                  (channel.isEmpty() ? QString() : " (" + channel + ")");
    if (from.isEmpty()) {
      const Trace& trace = *open.subject.trace;
      from = QString::fromStdString(query_layout(trace, layer).name(query));
      to = QString::fromStdString(key_layout(trace, layer).name(key));
    }
  }
  const bool fused = session_.view().head_fusion != HeadFusion::none;
  setText(tr("Layer %1 · head %2 · query %3 → key %4     %5")
              .arg(layer)
              .arg(fused ? tr("fused") : QString::number(head))
              .arg(from, to, values.join("     ")));
}

}  // namespace attnscope
