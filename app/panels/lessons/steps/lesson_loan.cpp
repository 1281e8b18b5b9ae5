#include "app/panels/lessons/steps/lesson_loan.h"

#include <algorithm>
#include <utility>

namespace attnscope {

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
  wanted.view.rank_threshold = before.state.view.rank_threshold;
  wanted.view.temperature = before.state.view.temperature;
  wanted.view.identity = before.state.view.identity;
  wanted.view.head_fusion = before.state.view.head_fusion;
  wanted.view.matrix = before.state.view.matrix;
  wanted.view.map_number = before.state.view.map_number;
  wanted.view.shown_rank = before.state.view.shown_rank;
  wanted.view.shows_rest = before.state.view.shows_rest;
  session_.set_state(wanted);
  session_.select(before.selection);
  emit changed();
}

}  // namespace attnscope
