#include "tests/support/small_data_set.h"

namespace attnscope {

namespace {

void write_part(const TemporaryFolder& folder, const std::string& part, unsigned char count,
                unsigned seed) {
  std::string images("\0\0\x08\x03\0\0\0", 7), labels("\0\0\x08\x01\0\0\0", 7);
  images += static_cast<char>(count);
  images += std::string("\0\0\0\x06\0\0\0\x06", 8);
  labels += static_cast<char>(count);
  for (unsigned image = 0; image < count; ++image) {
    const unsigned label = (image * 7 + seed) % 3;
    labels += static_cast<char>(label);
    for (unsigned row = 0; row < 6; ++row) {
      for (unsigned column = 0; column < 6; ++column) {
        seed = seed * 1664525U + 1013904223U;
        images += static_cast<char>((seed >> 25U) + (row / 2 == label ? 120U : 0U));
      }
    }
  }
  (void)folder.write(part + "-images-idx3-ubyte", images);
  (void)folder.write(part + "-labels-idx1-ubyte", labels);
}

}  // namespace

std::filesystem::path write_small_data_set(const TemporaryFolder& folder) {
  write_part(folder, "train", 60, 1);
  write_part(folder, "t10k", 24, 2);
  return folder.path();
}

std::filesystem::path write_small_text(const TemporaryFolder& folder) {
  std::string text;
  for (unsigned i = 0; text.size() < 3000; ++i) text += i % 3 == 0 ? "abcü " : "cab\n";
  return folder.write("letters.txt", text);
}

std::filesystem::path write_small_texts(const TemporaryFolder& folder) {
  std::string table = "label\ttext\n";
  for (unsigned i = 0; i < 60; ++i) {
    std::string text;
    for (unsigned j = 0; j < 1 + i * 7 % 20; ++j) text += static_cast<char>('a' + (i + j * j) % 5);
    text[i % text.size()] = i % 2 == 0 ? 'x' : 'z';
    table += (i % 2 == 0 ? "with x\t" : "with z\t") + text + "\n";
  }
  return folder.write("texts.tsv", table);
}

}  // namespace attnscope
