#include "app/panels/mechanism/mechanism_panel.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/importance/importance.h"
#include "analysis/position_bias/key_maps.h"
#include "analysis/position_bias/position_bias.h"
#include "app/panels/mechanism/hash_codes_page.h"
#include "app/panels/mechanism/importance_page.h"
#include "app/panels/mechanism/key_maps_page.h"
#include "app/panels/mechanism/position_bias_page.h"
#include "app/session/session.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "core/error.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// True if some layer weighs the tokens of a text by themselves, apart from its map.
bool has_importances(const Trace& trace) {
  if (trace.layout.texts.empty()) return false;
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const auto attentions = importances_of(trace, layer);
    const auto of_its_own = [](ImportanceOf attention) { return attention != ImportanceOf::map; };
    if (std::ranges::any_of(attentions, of_its_own)) return true;
  }
  return false;
}

/// True if the model's mechanism has what the page shows.
bool has_page(const OpenSubject& open, std::string_view page) {
  const std::shared_ptr<const Trace>& trace = open.subject.trace;
  if (!trace) return false;
  if (page == "position-bias") return has_position_biases(*trace);
  if (page == "key-maps") return has_key_maps(*trace);
  if (page == "token-importance") return has_importances(*trace);
  return open.subject.mechanism.name == "hash";
}

constexpr std::array<std::string_view, 4> kPagesOfMechanisms = {"position-bias", "key-maps",
                                                                "token-importance", "hash-codes"};

bool has_any_page(const OpenSubject& open) {
  return std::ranges::any_of(kPagesOfMechanisms,
                             [&](std::string_view page) { return has_page(open, page); });
}

/// The model that the page draws: the selected one, or the first that has something for it. Hash
/// codes can be of any model that has run.
const OpenSubject* drawn_by(const Session& session, std::string_view page) {
  const auto draws = [&](const OpenSubject& open) {
    return page == "hash-codes" ? open.subject.trace != nullptr : has_page(open, page);
  };
  const OpenSubject* const selected = session.find(session.selection().subject);
  if (selected != nullptr && draws(*selected)) return selected;
  const auto found = std::ranges::find_if(session.subjects(), draws);
  return found == session.subjects().end() ? nullptr : &*found;
}

}  // namespace

MechanismPanel::MechanismPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  segments_ = new Segments;
  stack_ = new QStackedWidget;
  add_page("position-bias", new PositionBiasPage(session), "first");
  add_page("key-maps", new KeyMapsPage(session), "middle");
  add_page("token-importance", new ImportancePage(session), "middle");
  add_page("hash-codes", new HashCodesPage(session), "last");
  add_to_header(segments_);
  body()->addWidget(stack_, 1);
  connect(&session_, &Session::subjects_changed, this, &MechanismPanel::refresh);
  connect(&session_, &Session::trace_ready, this, &MechanismPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &MechanismPanel::refresh);
  refresh();
}

void MechanismPanel::add_page(const char* name, DockPanel* panel, const char* place) {
  panel->become_page();
  stack_->addWidget(panel);
  auto* const button =
      segment_button(QString("mechanism_%1").arg(name), panel->title(), panel->title(), place);
  segments_->add(button);
  pages_.push_back({name, panel, button});
  connect(button, &QToolButton::toggled, this, [this, panel](bool on) {
    if (!on) return;
    stack_->setCurrentWidget(panel);
    show_note();
  });
}

bool MechanismPanel::has_content(const Session& session) {
  const OpenSubject* const selected = session.find(session.selection().subject);
  return selected != nullptr && has_any_page(*selected);
}

bool MechanismPanel::has_codes(const Session& session) {
  return drawn_by(session, "hash-codes") != nullptr;
}

const MechanismPanel::Page& MechanismPanel::shown() const {
  const auto found = std::ranges::find(pages_, stack_->currentWidget(), &Page::panel);
  return found == pages_.end() ? pages_.front() : *found;
}

bool MechanismPanel::show_page(const std::string& page) {
  const auto found = std::ranges::find(pages_, page, &Page::name);
  if (found == pages_.end()) return false;
  asked_for_ = page;
  asked_with_ = session_.selection().subject;
  refresh();
  found->button->setChecked(true);
  return true;
}

void MechanismPanel::refresh() {
  const OpenSubject* const selected = session_.find(session_.selection().subject);
  const bool any = selected != nullptr && has_any_page(*selected);
  if (any && !has_page(*selected, asked_for_) && selected->id != asked_with_) asked_for_.clear();
  const Page* first = nullptr;
  int count = 0;
  for (const Page& page : pages_) {
    const bool is_there = (any && has_page(*selected, page.name)) || page.name == asked_for_;
    page.button->setVisible(is_there);
    count += is_there ? 1 : 0;
    if (is_there && first == nullptr) first = &page;
  }
  segments_->setVisible(count > 1);
  if (first != nullptr) {
    (shown().button->isHidden() ? *first : shown()).button->setChecked(true);
  }
  show_instead(first != nullptr
                   ? QString()
                   : tr("The mechanism of the selected model has nothing of its own to show. DAFT "
                        "has position biases and keys, additive attention importances of tokens, "
                        "hashed attention codes."));
  show_note();
}

/// Says in the title row of which model, layer and head the page is.
void MechanismPanel::show_note() {
  const std::string_view page = shown().name;
  const OpenSubject* const drawn = drawn_by(session_, page);
  if (drawn == nullptr) return set_note({});
  const Selection& selection = session_.selection();
  QString note = QString("%1 %2")
                     .arg(session_.place_of(drawn->id) + 1)
                     .arg(QString::fromStdString(drawn->subject.label));
  const Trace& trace = *drawn->subject.trace;
  const bool of_head = page == "hash-codes" || page == "token-importance";
  note = of_head && selection.layer < std::ssize(trace.layers)
             ? tr("%1 · head %2 · %3")
                   .arg(QString::fromStdString(layer_name(trace, selection.layer)))
                   .arg(selection.head)
                   .arg(note)
             : tr("all layers · %1").arg(note);
  set_note(note);
}

bool MechanismPanel::is_behind() const { return shown().panel->is_behind(); }

ControlValues MechanismPanel::settings() const {
  ControlValues all;
  for (const Page& page : pages_) all.merge(page.panel->settings());
  return all;
}

void MechanismPanel::restore_settings(const ControlValues& settings) {
  for (const Page& page : pages_) page.panel->restore_settings(settings);
}

}  // namespace attnscope
