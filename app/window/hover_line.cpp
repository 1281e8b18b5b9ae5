#include "app/window/hover_line.h"

#include <QStringList>

#include "app/canvas/atlas_link.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// "Layer 3", "Cross 0": the layer's name with a capital letter.
QString capitalised_layer(const Trace& trace, std::int64_t layer) {
  const QString name = QString::fromStdString(layer_name(trace, layer));
  return name.left(1).toUpper() + name.mid(1);
}

}  // namespace

HoverLine::HoverLine(Session& session, AtlasLink& link, QWidget* parent)
    : QLabel(parent), session_(session), link_(link) {
  setObjectName("hover_line");
  setTextFormat(Qt::PlainText);
  setContentsMargins(10, 0, 0, 0);
  setMinimumWidth(0);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(&session_, &Session::selection_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::subjects_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::view_changed, this, &HoverLine::refresh);
  refresh();
}

/// Value of the hovered cell: "0.0123", or "0.0123 (channel 3)" for a channel's map; the reason if
/// there is no such cell. Empty if the subject has no such map.
QString HoverLine::value_in(const OpenSubject& open, const HoveredCell& hover) const {
  const std::shared_ptr<const ShownMaps> maps = link_.maps(open.id);
  const std::optional<HoveredTokens> tokens = hovered_tokens(session_, open.id);
  if (!maps || !tokens || hover.layer >= maps->grid().layers) return {};
  const bool fused = maps->settings().head_fusion != HeadFusion::none;
  if (!fused && hover.head >= maps->grid().columns) return {};
  if (!tokens->query) return tr("no such query");
  if (!tokens->key) return tr("no such key");
  const std::optional<MapCell> cell = link_.linked_cell(open.id);
  if (!cell) return tr("hidden");
  const QString channel = QString::fromStdString(channel_in_words(maps->trace()));
  return QString::number(static_cast<double>(maps->value(*cell)), 'g', 6) +
         (channel.isEmpty() ? QString() : " (" + channel + ")");
}

void HoverLine::refresh() {
  const Selection& selection = session_.selection();
  const std::shared_ptr<const Trace> hovered =
      selection.hover ? session_.trace(selection.hover->subject) : nullptr;
  if (!hovered) {
    const std::shared_ptr<const Trace> selected = session_.trace(selection.subject);
    setText(selected ? tr("%1 · head %2 · point at a map to read its values; press ? for keys")
                           .arg(capitalised_layer(*selected, selection.layer))
                           .arg(selection.head)
                     : QString());
    return;
  }
  const HoveredCell& hover = *selection.hover;
  QStringList values;
  for (const OpenSubject& open : session_.subjects()) {
    const QString value = value_in(open, hover);
    if (!value.isEmpty())
      values << QString("[%1] %2").arg(session_.place_of(open.id) + 1).arg(value);
  }
  const bool fused = session_.view().head_fusion != HeadFusion::none;
  setText(tr("%1 · head %2 · query %3 → key %4     %5")
              .arg(capitalised_layer(*hovered, hover.layer))
              .arg(fused ? tr("fused") : QString::number(hover.head))
              .arg(QString::fromStdString(query_layout(*hovered, hover.layer).name(hover.query)),
                   QString::fromStdString(key_layout(*hovered, hover.layer).name(hover.key)),
                   values.join("     ")));
}

}  // namespace attnscope
