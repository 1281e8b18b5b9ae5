#include "app/session/session.h"

#include "app/session/job_queue.h"

namespace attnscope {

Session::Session(QObject* parent) : QObject(parent), jobs_(std::make_unique<JobQueue>()) {}
Session::~Session() = default;

}  // namespace attnscope
