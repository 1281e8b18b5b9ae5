#include "app/session/history.h"

#include <algorithm>
#include <utility>

namespace attnscope {

namespace {

constexpr std::size_t kMostStates = 50;
constexpr qint64 kOneGestureMs = 900;

/// True if both have the same setup apart from changed maps. The training step of a subject is not
/// part of the setup.
bool same_but_for_maps(const OpenSubject& a, const OpenSubject& b) {
  return a.id == b.id && a.options == b.options && a.overlay == b.overlay;
}

bool same_subject(const OpenSubject& a, const OpenSubject& b) {
  return same_but_for_maps(a, b) && a.what_if == b.what_if;
}

/// True if only sliders of the subjects' maps moved; adding or removing head replacements is a
/// separate step.
bool only_slid(const SessionState& a, const SessionState& b) {
  const auto slid = [](const OpenSubject& one, const OpenSubject& other) {
    return same_but_for_maps(one, other) && one.what_if.heads == other.what_if.heads;
  };
  return std::ranges::equal(a.subjects, b.subjects, slid) && a.view == b.view &&
         a.input_locator == b.input_locator && a.reference == b.reference;
}

bool same_subjects(const SessionState& a, const SessionState& b) {
  return std::ranges::equal(a.subjects, b.subjects, same_subject);
}

bool only_view_differs(const SessionState& a, const SessionState& b) {
  return same_subjects(a, b) && a.input_locator == b.input_locator && a.reference == b.reference;
}

/// The first subject of `a` that `b` lacks, or null.
const OpenSubject* extra(const std::vector<OpenSubject>& a, const std::vector<OpenSubject>& b) {
  const auto found = std::ranges::find_if(a, [&](const OpenSubject& open) {
    return std::ranges::find(b, open.id, &OpenSubject::id) == b.end();
  });
  return found == a.end() ? nullptr : &*found;
}

/// The change from `before` to `after`: "close fashion-adder", "change of input".
QString describe_change(const SessionState& before, const SessionState& after) {
  const auto label = [](const OpenSubject& open) {
    return QString::fromStdString(open.subject.label);
  };
  if (const OpenSubject* opened = extra(after.subjects, before.subjects)) {
    return QObject::tr("open %1").arg(label(*opened));
  }
  if (const OpenSubject* closed = extra(before.subjects, after.subjects)) {
    return QObject::tr("close %1").arg(label(*closed));
  }
  if (std::ranges::equal(before.subjects, after.subjects, same_but_for_maps) &&
      !same_subjects(before, after)) {
    return QObject::tr("change of maps");
  }
  if (!same_subjects(before, after)) return QObject::tr("change of a model");
  if (before.input_locator != after.input_locator) return QObject::tr("change of input");
  if (before.reference != after.reference) return QObject::tr("change of reference");
  return QObject::tr("change of the view");
}

/// True if undo would make no difference; traces and the states of jobs are ignored.
bool same_setup(const SessionState& a, const SessionState& b) {
  return only_view_differs(a, b) && a.view == b.view;
}

}  // namespace

History::History(Session& session, QObject* parent)
    : QObject(parent), session_(session), current_(session.state()) {
  connect(&session_, &Session::subjects_changed, this, &History::note);
  connect(&session_, &Session::trace_ready, this, &History::note);
  connect(&session_, &Session::input_changed, this, &History::note);
  connect(&session_, &Session::reference_changed, this, &History::note);
  connect(&session_, &Session::view_changed, this, &History::note);
}

void History::note() {
  SessionState now = session_.state();
  if (moving_ || same_setup(current_, now)) {
    current_ = std::move(now);  // the new state may have more traces
    return;
  }
  // Changes of a slider, of which one gesture makes many.
  const bool of_view = only_view_differs(current_, now) || only_slid(current_, now);
  const bool goes_on = of_view && since_view_change_.isValid() &&
                       since_view_change_.elapsed() < kOneGestureMs && !undone_.empty();
  if (of_view) {
    since_view_change_.start();
  } else {
    since_view_change_.invalidate();
  }
  if (!goes_on) {
    undone_.push_back(std::move(current_));
    if (undone_.size() > kMostStates) undone_.erase(undone_.begin());
  }
  redone_.clear();
  current_ = std::move(now);
  emit changed();
}

QString History::undo_text() const {
  return can_undo() ? describe_change(undone_.back(), current_) : QString();
}

QString History::redo_text() const {
  return can_redo() ? describe_change(current_, redone_.back()) : QString();
}

void History::undo() { go_to(undone_, redone_); }
void History::redo() { go_to(redone_, undone_); }

/// `state` with the current weights of the subjects, because neither training steps nor files that
/// were read again are undone.
SessionState History::at_this_step(SessionState state) const {
  for (OpenSubject& open : state.subjects) {
    const auto now = std::ranges::find(current_.subjects, open.id, &OpenSubject::id);
    if (now == current_.subjects.end() || !same_but_for_maps(*now, open)) continue;
    const bool same_weights = now->file == open.file && now->subject.model == open.subject.model;
    const bool same_trace = open.subject.model || now->subject.trace == open.subject.trace;
    if (same_weights && same_trace) continue;
    const WhatIf what_if = open.what_if;
    const std::string own_name = open.own_name;
    open = *now;
    open.what_if = what_if;
    open.own_name = own_name;
  }
  return state;
}

void History::go_to(std::vector<SessionState>& from, std::vector<SessionState>& to) {
  if (from.empty()) return;
  to.push_back(current_);
  const SessionState wanted = at_this_step(std::move(from.back()));
  from.pop_back();
  since_view_change_.invalidate();
  moving_ = true;
  session_.set_state(wanted);
  moving_ = false;
  current_ = session_.state();
  emit changed();
}

}  // namespace attnscope
