#include "core/file/inflate.h"

#include <algorithm>
#include <limits>
#include <string>
#include <zlib.h>

#include "core/error.h"

namespace attnscope {

namespace {

class Stream {
 public:
  explicit Stream(DeflateWrapping wrapping) {
    const int window_bits = wrapping == DeflateWrapping::raw ? -MAX_WBITS : MAX_WBITS + 16;
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { inflateEnd(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  z_stream& get() { return stream_; }

 private:
  z_stream stream_{};
};

uInt at_once(std::uint64_t bytes) {
  return static_cast<uInt>(std::min<std::uint64_t>(bytes, std::numeric_limits<int>::max()));
}

}  // namespace

Inflated inflate(std::span<const std::byte> packed, DeflateWrapping wrapping,
                 std::uint64_t at_most) {
  constexpr std::size_t first_step = 1 << 16;
  Stream decoder(wrapping);
  z_stream& stream = decoder.get();
  Inflated result;
  std::uint64_t consumed = 0, produced = 0;
  Bytef beyond = 0;  // receives a byte beyond the limit, which shows that the stream continues
  while (true) {
    const bool full = produced == at_most;
    if (!full && result.bytes.size() == produced) {
      const std::uint64_t step = std::max<std::uint64_t>(first_step, produced);
      result.bytes.resize(produced + std::min(step, at_most - produced));
    }
    // zlib's interface lacks const; it only reads here.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data() + consumed));
    stream.avail_in = at_once(packed.size() - consumed);
    stream.next_out = full ? &beyond : reinterpret_cast<Bytef*>(result.bytes.data() + produced);
    stream.avail_out = full ? 1 : at_once(result.bytes.size() - produced);
    const uInt offered_in = stream.avail_in, offered_out = stream.avail_out;
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    consumed += offered_in - stream.avail_in;
    if (full && stream.avail_out == 0) break;
    if (!full) produced += offered_out - stream.avail_out;
    if (status == Z_STREAM_END) {
      result.complete = true;
      break;
    }
    const bool stuck = offered_in == stream.avail_in && offered_out == stream.avail_out;
    if (status != Z_OK || stuck) {
      throw Error(ErrorKind::damaged, status == Z_BUF_ERROR || status == Z_OK
                                          ? "the compressed data are truncated"
                                          : "the compressed data are broken")
          .remedy("fetch the file again");
    }
  }
  result.bytes.resize(produced);
  return result;
}

bool is_bomb(std::uint64_t packed, std::uint64_t unpacked) {
  constexpr std::uint64_t best_ratio = 1032, slack = 64, large = 256 << 20, suspicious_ratio = 100;
  return unpacked / best_ratio > packed + slack ||
         (unpacked > large && unpacked / suspicious_ratio > packed);
}

}  // namespace attnscope
