#pragma once
namespace attnscope {
class JobQueue {};
}  // namespace attnscope
