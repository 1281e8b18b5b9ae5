#include "app/panels/mechanism/position_bias_page.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <string>

#include "analysis/position_bias/position_bias.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

PositionBiasPage::PositionBiasPage(Session& session, QWidget* parent)
    : FigurePanel(tr(kTitle), "position-bias", session, parent) {
  maps_ = segment_button("position_bias_maps", tr("Maps"), tr("exp(w) − 1 of every layer and head"),
                         "first");
  query_ = segment_button("position_bias_query", tr("Query"),
                          tr("The biases of the query under the cursor, on the grid of patches"),
                          "middle");
  numbers_ = segment_button("position_bias_numbers", tr("Numbers"),
                            tr("Entropy, symmetry and distance of every layer's biases"), "last");
  maps_->setChecked(true);
  auto* segments = new Segments;
  for (QToolButton* button : {maps_, query_, numbers_}) {
    segments->add(button);
    connect(button, &QToolButton::toggled, this, [this](bool checked) {
      if (checked) want();
    });
  }
  add_to_header(segments);
  connect(&session, &Session::selection_changed, this, &PositionBiasPage::want);
}

QString PositionBiasPage::empty_text() const {
  return tr(
      "DAFT's position biases for every pair of tokens appear here: select a DAFT model, or "
      "lay daft-full or daft-conv over another.");
}

/// For the model that is drawn, the query under the cursor, or else the selected query.
std::optional<std::int64_t> PositionBiasPage::shown_query(const FigureRequest& request) const {
  const Selection& selection = session().selection();
  for (const OpenSubject& open : session().subjects()) {
    const bool is_drawn =
        !request.subjects.empty() && request.subjects.front().trace == open.subject.trace;
    if (!is_drawn) continue;
    const std::optional<HoveredTokens> hovered = hovered_tokens(session(), open.id);
    return hovered && hovered->query ? hovered->query
                                     : selected_query(session(), open.id, selection.layer);
  }
  return std::nullopt;
}

FigureRequest PositionBiasPage::request() const {
  FigureRequest request = request_of_selected(session(), has_position_biases);
  if (numbers_->isChecked()) request.settings["show"] = "numbers";
  if (query_->isChecked()) {
    request.settings["show"] = "query";
    if (const auto query = shown_query(request)) request.settings["query"] = *query;
  }
  return request;
}

}  // namespace attnscope
