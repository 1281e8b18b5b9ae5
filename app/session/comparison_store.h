// Every open subject compared with the pinned reference: computed in the background as traces and
// settings change, and kept.
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "analysis/comparison/comparison.h"
#include "app/session/subject_id.h"

namespace attnscope {

class Session;

/// Lives on the window's thread, beside its session. Computes nothing while no reference is pinned.
class ComparisonStore : public QObject {
  Q_OBJECT
 public:
  explicit ComparisonStore(Session& session, QObject* parent = nullptr);

  /// What is compared: the maps at first.
  void set_analysed(const Analysed& analysed);
  /// Forgets everything, and cancels what is being computed.
  void stop();

  /// How subjects are compared now.
  [[nodiscard]] ComparisonOptions options() const;

  /// Of a subject, under the session's settings; null while it is not known, and for the reference.
  [[nodiscard]] std::shared_ptr<const SubjectComparison> comparison(SubjectId subject) const;
  /// Which of the reference's maps each of a subject's is beside: by index until matched heads are
  /// known. Null without a reference, or where one of the two has no trace.
  [[nodiscard]] std::shared_ptr<const MapAlignment> alignment(SubjectId subject) const;
  /// Why a comparison is not known; empty if nothing is wrong.
  [[nodiscard]] std::string error_of(SubjectId subject) const;
  /// Whether the user stopped one of them before it was known.
  [[nodiscard]] bool is_stopped() const;
  /// Finds what was stopped after all.
  void go_on();
  /// Nothing is being computed.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();  ///< comparisons or alignments are new, or gone

 private:
  struct Entry {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const MapAlignment> alignment;
    std::shared_ptr<const SubjectComparison> comparison;
    std::string error;
    bool stopped = false;
    std::int64_t job = 0;
  };
  void refresh();
  void compare(SubjectId subject);
  void forget(Entry& entry);
  [[nodiscard]] Subject with_trace(SubjectId subject,
                                   const std::shared_ptr<const Trace>& trace) const;
  [[nodiscard]] const Entry* entry(SubjectId subject) const;

  Session& session_;
  Analysed analysed_;
  QTimer delay_;                            // a dragged threshold starts one job, not fifty
  std::shared_ptr<const Trace> reference_;  // what the entries are compared with
  ComparisonOptions options_;               // and how
  std::map<SubjectId, Entry> entries_;
};

}  // namespace attnscope
