#include "core/file/deflate.h"

#include <zlib.h>

#include "core/error.h"

namespace attnscope {

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int state = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()),
                              static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (state != Z_OK) {
    throw Error(ErrorKind::io, "zlib could not compress the data")
        .about(std::to_string(bytes.size()) + " bytes")
        .expected("Z_OK")
        .found(std::string(zError(state)));
  }
  packed.resize(size);
  return packed;
}

}  // namespace attnscope
