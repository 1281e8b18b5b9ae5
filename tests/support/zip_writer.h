// Zip archives for tests, in which every field can be falsified.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct ZipMember {
  std::string name;
  std::string data;          ///< bytes in the file
  std::uint16_t method = 0;  ///< 8: `data` is a raw deflate stream
  std::uint32_t size = 0;    ///< size after unpacking
  std::uint32_t checksum = 0;
  std::uint16_t flags = 0;
  std::string local_name;  ///< name in the member's own header; `name` if empty
};

/// A member that is stored without compression.
[[nodiscard]] ZipMember stored_member(std::string name, std::string data);
/// A deflated member with its true size and checksum.
[[nodiscard]] ZipMember deflated_member(std::string name, const std::string& data);

/// The archive's bytes.
[[nodiscard]] std::string zip_bytes(const std::vector<ZipMember>& members);

}  // namespace attnscope
