#include "core/attention/costs/count.h"

#include <string>

#include "core/error.h"

namespace attnscope {

void Count::refuse(const char* sign, Count a, Count b) {
  throw Error(ErrorKind::usage, "the number of operations does not fit in 64 bits")
      .expected("at most 9223372036854775807 (2^63 - 1)")
      .found(std::to_string(a.value()) + " " + sign + " " + std::to_string(b.value()))
      .remedy("lower the number of tokens, the width or the number of layers");
}

}  // namespace attnscope
