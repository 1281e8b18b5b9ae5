// Zip archives for tests, with every field open to be falsified.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct ZipMember {
  std::string name;
  std::string data;          ///< as it lies in the file
  std::uint16_t method = 0;  ///< 8: `data` is a raw deflate stream
  std::uint32_t size = 0;    ///< when unpacked
  std::uint32_t checksum = 0;
  std::uint16_t flags = 0;
  std::string local_name;  ///< in the member's own header; `name` if empty
};

/// A member stored as it is.
[[nodiscard]] ZipMember stored_member(std::string name, std::string data);
/// A member deflated, with its true size and checksum.
[[nodiscard]] ZipMember deflated_member(std::string name, const std::string& data);

/// The archive's bytes.
[[nodiscard]] std::string zip_bytes(const std::vector<ZipMember>& members);

}  // namespace attnscope
