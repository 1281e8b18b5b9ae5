#include "tests/support/zip_writer.h"

#include <stdexcept>
#include <utility>
#include <zlib.h>

namespace attnscope {

namespace {

void append(std::string& bytes, std::uint64_t number, int width) {
  for (int place = 0; place < width; ++place) {
    bytes += static_cast<char>(number >> (8 * place) & 0xFF);
  }
}

std::uint32_t checksum_of(const std::string& data) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

}  // namespace

ZipMember stored_member(std::string name, std::string data) {
  ZipMember member{std::move(name), std::move(data), 0, 0, 0, 0, ""};
  member.size = static_cast<std::uint32_t>(member.data.size());
  member.checksum = checksum_of(member.data);
  return member;
}

ZipMember deflated_member(std::string name, const std::string& data) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&stream, data.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return {std::move(name),
          std::move(packed),
          8,
          static_cast<std::uint32_t>(data.size()),
          checksum_of(data),
          0,
          ""};
}

std::string zip_bytes(const std::vector<ZipMember>& members) {
  std::string bytes, directory;
  for (const ZipMember& member : members) {
    const std::size_t header = bytes.size();
    const std::string& local_name = member.local_name.empty() ? member.name : member.local_name;
    const auto common = [&](std::string& to, std::size_t name_size) {
      append(to, 20, 2);
      append(to, member.flags, 2);
      append(to, member.method, 2);
      append(to, 0, 4);  // time and date
      append(to, member.checksum, 4);
      append(to, member.data.size(), 4);
      append(to, member.size, 4);
      append(to, name_size, 2);
      append(to, 0, 2);  // extra field
    };
    append(bytes, 0x04034B50, 4);
    common(bytes, local_name.size());
    bytes += local_name + member.data;
    append(directory, 0x02014B50, 4);
    append(directory, 20, 2);
    common(directory, member.name.size());
    directory += std::string(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    append(directory, header, 4);
    directory += member.name;
  }
  const std::size_t start = bytes.size();
  bytes += directory;
  append(bytes, 0x06054B50, 4);
  append(bytes, 0, 4);
  append(bytes, members.size(), 2);
  append(bytes, members.size(), 2);
  append(bytes, directory.size(), 4);
  append(bytes, start, 4);
  append(bytes, 0, 2);
  return bytes;
}

}  // namespace attnscope
