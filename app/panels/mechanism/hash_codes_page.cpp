#include "app/panels/mechanism/hash_codes_page.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <string>

#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/number_slider.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kMostBits = 64;
constexpr int kSlidersPixels = 60;
constexpr int kRowPixels = 130;

std::int64_t whole(const NumberSlider& slider) {
  return static_cast<std::int64_t>(std::llround(slider.value()));
}

}  // namespace

HashCodesPage::HashCodesPage(Session& session, QWidget* parent)
    : FigurePanel(tr(kTitle), "hash-codes", session, parent) {
  similarity_ = segment_button(
      "hash_view_similarity", tr("Similarity"),
      tr("Codes over the image, their affinities, and how far apart pairs are"), "first");
  bits_view_ = segment_button("hash_view_bits", tr("Bits"),
                              tr("How the bits are used: correlation, balance, entropy"), "last");
  similarity_->setChecked(true);
  learn_ = new QToolButton;
  learn_->setObjectName("learn_codes");
  learn_->setText(tr("Learn"));
  learn_->setToolTip(
      tr("Learn codes with these settings for every layer and head from the selected model's own "
         "attention, and open the model hashed with them"));
  learn_->setAccessibleName(tr("Learn codes for all heads"));
  auto* segments = new Segments;
  segments->add(similarity_);
  segments->add(bits_view_);
  add_to_header(learn_);
  add_to_header(segments);

  bits_ = new NumberSlider(tr("Bits"), {.minimum = 1, .maximum = kMostBits, .step = 1}, 16);
  supports_ = new NumberSlider(tr("Supports"), {.minimum = 1, .maximum = 100, .step = 1}, 25);
  pairs_ = new NumberSlider(tr("Pairs"), {.minimum = 1, .maximum = 50, .step = 1}, 10);
  bits_->setObjectName("hash_bits");
  supports_->setObjectName("hash_supports");
  pairs_->setObjectName("hash_pairs");
  bits_->setToolTip(tr("b, the bits of a code"));
  supports_->setToolTip(tr("m, the tokens that the kernel compares with"));
  pairs_->setToolTip(
      tr("l, the keys a query attends to most and least: what is similar. All other keys count as "
         "0, so that an error of 1 is that of codes of zeros"));
  auto* sliders = new QHBoxLayout;
  sliders->setSpacing(4);
  for (NumberSlider* slider : {bits_, supports_, pairs_}) {
    slider->stack();
    sliders->addWidget(slider, 1);
    connect(slider, &NumberSlider::value_changed, this, &HashCodesPage::want);
  }
  body()->insertLayout(0, sliders);

  connect(similarity_, &QToolButton::toggled, this, &HashCodesPage::want);
  connect(learn_, &QToolButton::clicked, this, &HashCodesPage::learn);
  connect(&session, &Session::selection_changed, this, &HashCodesPage::follow_selection);
  connect(&session, &Session::subjects_changed, this, &HashCodesPage::follow_selection);
  follow_selection();
}

QString HashCodesPage::empty_text() const {
  return tr(
      "Open a model to see learned and random binary codes of its tokens next to the attention "
      "they imitate.");
}

const OpenSubject* HashCodesPage::shown_subject() const {
  const OpenSubject* const selected = session().find(session().selection().subject);
  if (selected && selected->subject.trace) return selected;
  for (const OpenSubject& open : session().subjects()) {
    if (open.subject.trace) return &open;
  }
  return nullptr;
}

void HashCodesPage::follow_selection() {
  const OpenSubject* const shown = shown_subject();
  learn_->setEnabled(shown && shown->subject.model);
  if (!shown) return;
  const Selection& selection = session().selection();
  const OpenSubject& open = *shown;
  if (open.id == subject_ && selection.layer == layer_ && selection.head == head_) return;
  const bool another = open.id != subject_;
  subject_ = open.id;
  layer_ = selection.layer;
  head_ = selection.head;
  show_limits();
  if (another && open.subject.mechanism.name == "hash") {
    const TypedValues own(open.subject.mechanism.parameters);
    bits_->set_value(own.number("bits"));
    supports_->set_value(own.number("supports"));
  }
  want();
}

void HashCodesPage::show_limits() {
  const std::shared_ptr<const Trace> trace = session().trace(subject_);
  if (!trace || layer_ >= std::ssize(trace->layers)) return;
  const ImpliedMaps& map = trace->layers[static_cast<std::size_t>(layer_)].implied_map;
  if (map.empty()) return;
  const auto keys = static_cast<double>(map.extent(2));
  supports_->set_range({.minimum = 1, .maximum = std::max(1.0, keys), .step = 1});
  pairs_->set_range({.minimum = 1, .maximum = std::max(1.0, std::floor(keys / 2)), .step = 1});
}

int HashCodesPage::rows_that_fit() const {
  return std::clamp((height() - kSlidersPixels) / kRowPixels, 1, 3);
}

void HashCodesPage::resizeEvent(QResizeEvent* event) {
  FigurePanel::resizeEvent(event);
  if (rows_that_fit() == rows_) return;
  rows_ = rows_that_fit();
  want();
}

FigureRequest HashCodesPage::request() const {
  FigureRequest request;
  const OpenSubject* const shown = shown_subject();
  if (!shown) return request;
  const FigureRequest all = request_of(session());
  for (std::size_t i = 0; i < all.subjects.size(); ++i) {
    if (all.subjects[i].trace != shown->subject.trace) continue;
    request.subjects = {all.subjects[i]};
    request.sources = {all.sources[i]};
  }
  // Rows shown for 1, 2 and 3 rows that fit; the most informative ones are kept.
  using Rows = std::vector<std::string>;
  static const Rows kSimilarity[] = {
      {"tokens"}, {"tokens", "distances"}, {"tokens", "affinity", "distances"}};
  static const Rows kBits[] = {
      {"balance"}, {"balance", "correlation"}, {"tokens", "balance", "correlation"}};
  const auto rows = static_cast<std::size_t>(rows_that_fit() - 1);
  const Rows& show = similarity_->isChecked() ? kSimilarity[rows] : kBits[rows];
  const Selection& selection = session().selection();
  request.settings = {{"layer", selection.layer},
                      {"head", selection.head},
                      {"bits", whole(*bits_)},
                      {"supports", whole(*supports_)},
                      {"pairs", whole(*pairs_)},
                      {"show", show},
                      {"colour-map", session().view().colour_map}};
  return request;
}

void HashCodesPage::learn() {
  const OpenSubject* const shown = shown_subject();
  if (!shown) return;
  try {
    session().learn_codes(
        shown->id, {.bits = whole(*bits_), .supports = whole(*supports_), .pairs = whole(*pairs_)});
  } catch (const Error& error) {
    emit session().failed(QString::fromStdString(error.in_window()));
  }
}

}  // namespace attnscope
