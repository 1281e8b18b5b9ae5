#include "app/panels/mechanism/key_maps_page.h"

#include "analysis/position_bias/key_maps.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"

namespace attnscope {

KeyMapsPage::KeyMapsPage(Session& session, QWidget* parent)
    : FigurePanel(tr(kTitle), "key-maps", session, parent) {
  connect(&session, &Session::selection_changed, this, &KeyMapsPage::want);
}

QString KeyMapsPage::empty_text() const {
  return tr(
      "exp(K) of each layer and channel over the image appears here: select a DAFT model, or lay "
      "daft-full or daft-conv over another.");
}

FigureRequest KeyMapsPage::request() const {
  FigureRequest request = request_of_selected(session(), has_key_maps);
  request.settings["colour-map"] = session().view().colour_map;
  return request;
}

}  // namespace attnscope
