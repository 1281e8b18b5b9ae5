#include "core/model/subject.h"

namespace attnscope {

ModelStatus status_of(const Subject& subject) {
  if (subject.model) return subject.model->status();
  return subject.trace ? recorded_status(subject.trace->provenance) : ModelStatus{};
}

}  // namespace attnscope
