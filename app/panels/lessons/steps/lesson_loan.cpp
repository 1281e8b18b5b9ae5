#include "app/panels/lessons/steps/lesson_loan.h"

#include <algorithm>
#include <utility>

namespace attnscope {

void copy_lesson_view(const ViewSettings& from, ViewSettings& to) {
  to.rank_threshold = from.rank_threshold;
  to.temperature = from.temperature;
  to.identity = from.identity;
  to.head_fusion = from.head_fusion;
  to.matrix = from.matrix;
  to.map_number = from.map_number;
  to.shown_rank = from.shown_rank;
  to.shows_rest = from.shows_rest;
}

LessonLoan::LessonLoan(Session& session, QObject* parent) : QObject(parent), session_(session) {}

void LessonLoan::borrow() {
  if (before_) return;
  before_ = {session_.state(), session_.selection()};
  emit changed();
}

void LessonLoan::note_opened(SubjectId subject) { opened_.insert(subject); }

void LessonLoan::restore() {
  if (!before_) return;
  const Before before = *std::exchange(before_, std::nullopt);
  const std::set<SubjectId> opened = std::exchange(opened_, {});
  SessionState wanted = session_.state();
  const std::vector<OpenSubject> now = std::exchange(wanted.subjects, before.state.subjects);
  for (const OpenSubject& open : now) {
    const bool had =
        std::ranges::find(wanted.subjects, open.id, &OpenSubject::id) != wanted.subjects.end();
    if (!had && !opened.contains(open.id)) wanted.subjects.push_back(open);
  }
  wanted.input_locator = before.state.input_locator;
  wanted.input = before.state.input;
  wanted.reference = before.state.reference;
  copy_lesson_view(before.state.view, wanted.view);
  session_.set_state(wanted);
  session_.select(before.selection);
  emit changed();
}

}  // namespace attnscope
