#include "core/file/zip_archive.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_writer.h"

namespace attnscope {
namespace {

class Zip : public testing::Test {
 protected:
  ZipArchive open(const std::string& bytes) const {
    return ZipArchive(MappedFile::open(folder_.write("a.zip", bytes)));
  }
  void expect_refused(const std::string& bytes, ErrorKind kind, const std::string& part) const {
    expect_refusal([&] { return open(bytes); }, kind, part, "");
  }
  TemporaryFolder folder_;
};

std::string entry_text(const ZipBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()};
}

TEST_F(Zip, ReadsStoredAndDeflatedEntries) {
  const std::string large(300'000, 'x');
  const ZipArchive archive =
      open(zip_bytes({stored_member("a", "hello"), deflated_member("b", large)}));
  EXPECT_EQ(entry_text(archive.read(*archive.find("a"))), "hello");
  EXPECT_EQ(entry_text(archive.read(*archive.find("b"))), large);
  EXPECT_EQ(entry_text(archive.read_start(*archive.find("b"), 3)), "xxx");
  EXPECT_EQ(entry_text(archive.read_start(*archive.find("a"), 99)), "hello");
  EXPECT_EQ(archive.find("c"), nullptr);
}

TEST_F(Zip, RefusesArchivesCutOffAnywhere) {
  const std::string whole =
      zip_bytes({stored_member("a", "hello"), deflated_member("b", "something")});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW((void)open(whole.substr(0, length)), Error) << length;
  }
}

TEST_F(Zip, RefusesEncryptedEntries) {
  ZipMember member = stored_member("a", "hello");
  member.flags = 1;
  expect_refused(zip_bytes({member}), ErrorKind::unsupported, "encrypted");
  member.flags = 0;
  member.method = 99;
  expect_refused(zip_bytes({member}), ErrorKind::unsupported, "encrypted");
  member.method = 12;
  expect_refused(zip_bytes({member}), ErrorKind::unsupported, "method 12");
}

TEST_F(Zip, RefusesBombs) {
  ZipMember claims = deflated_member("a", std::string(1000, 'x'));
  claims.size = 4'000'000'000U;
  expect_refused(zip_bytes({claims}), ErrorKind::damaged, "absurdly large");
  // 300 MB in 400 kB are possible, but weights never compress that much.
  ZipMember zeros = stored_member("a", std::string(400'000, 'x'));
  zeros.method = 8;
  zeros.size = 300'000'000;
  expect_refused(zip_bytes({zeros}), ErrorKind::damaged, "absurdly large");
  // Each of these members would be accepted on its own.
  ZipMember part = zeros;
  part.size = 100'000'000;
  std::vector<ZipMember> parts(3, part);
  parts[1].name = "b";
  parts[2].name = "c";
  expect_refused(zip_bytes(parts), ErrorKind::damaged, "absurdly large");
  // The entry claims less than it unpacks to: decoding stops at the claimed size.
  ZipMember hides = deflated_member("a", std::string(1'000'000, 'x'));
  hides.size = 10;
  const ZipArchive archive = open(zip_bytes({hides}));
  expect_refusal([&] { return archive.read(archive.entries()[0]); }, ErrorKind::damaged,
                 "differs from the directory's", "");
}

TEST_F(Zip, RefusesOverlappingEntries) {
  // Two directory entries share one header and its data, like in overlapping zip bombs.
  std::string bytes = zip_bytes({stored_member("a", "hello"), stored_member("a", "hello")});
  const std::size_t second = bytes.rfind("PK\x01\x02");
  bytes.replace(second + 42, 4, std::string(4, '\0'));
  expect_refused(bytes, ErrorKind::damaged, "same name");
  std::string renamed =
      zip_bytes({stored_member("a", std::string(60, 'x')), stored_member("b", "hello")});
  // The data of the first member overlap the header of the second.
  const std::size_t first = renamed.find("PK\x01\x02");
  renamed[first + 20] = renamed[first + 24] = 80;
  expect_refused(renamed, ErrorKind::damaged, "overlap");
}

TEST_F(Zip, RefusesDuplicateAndDisagreeingNames) {
  expect_refused(zip_bytes({stored_member("a", "1"), stored_member("a", "2")}), ErrorKind::damaged,
                 "same name");
  ZipMember member = stored_member("a", "1");
  member.local_name = "b";
  expect_refused(zip_bytes({member}), ErrorKind::damaged, "does not agree");
}

TEST_F(Zip, RefusesWrongChecksumsAndBrokenStreams) {
  ZipMember wrong = deflated_member("a", "hello");
  wrong.checksum ^= 1;
  const ZipArchive archive = open(zip_bytes({wrong}));
  expect_refusal([&] { return archive.read(archive.entries()[0]); }, ErrorKind::damaged, "checksum",
                 "");
  ZipMember stored = stored_member("a", "hello");
  stored.checksum ^= 1;
  const ZipArchive mapped = open(zip_bytes({stored, stored_member("b", "hello")}));
  for (int again = 0; again < 2; ++again) {
    expect_refusal([&] { return mapped.read(mapped.entries()[0]); }, ErrorKind::damaged,
                   "a: the zip entry's checksum does not fit", "");
    EXPECT_EQ(entry_text(mapped.read(mapped.entries()[1])), "hello");
  }
  ZipMember broken = deflated_member("a", "hello");
  broken.data[0] = '\x07';
  const ZipArchive other = open(zip_bytes({broken}));
  expect_refusal([&] { return other.read(other.entries()[0]); }, ErrorKind::damaged, "broken", "");
}

TEST_F(Zip, ChecksEveryPartOfLargeStoredEntries) {
  std::string large(13'000'001, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 7);
  const std::string bytes = zip_bytes({stored_member("a", large)});
  const ZipArchive whole = open(bytes);
  EXPECT_EQ(entry_text(whole.read(whole.entries()[0])), large);
  for (const std::size_t at : {std::size_t{0}, std::size_t{5'000'000}, large.size() - 1}) {
    std::string flipped = bytes;
    flipped[bytes.find(large.substr(0, 100)) + at] ^= 1;
    const ZipArchive archive = open(flipped);
    expect_refusal([&] { return archive.read(archive.entries()[0]); }, ErrorKind::damaged,
                   "checksum", "");
  }
}

TEST_F(Zip, AnUnknownChecksumIsNotCompared) {
  ZipMember unknown = stored_member("a", "hello");
  unknown.checksum = 0;
  const ZipArchive archive = open(zip_bytes({unknown}));
  EXPECT_EQ(entry_text(archive.read(archive.entries()[0])), "hello");
}

}  // namespace
}  // namespace attnscope
