#include "analysis/figure/array_export.h"
#include "analysis/figure/text_export.h"
#include "core/file/npz_writer.h"

namespace attnscope {

namespace {

class NpzArrays : public ArrayFile {
 public:
  void array(const std::string& path, const Shape& shape, std::span<const double> values) override {
    file_.add(path, shape, values);
  }
  void array(const std::string& path, const Shape& shape, std::span<const float> values) override {
    file_.add(path, shape, values);
  }
  void array(const std::string& path, const Shape& shape,
             std::span<const std::uint8_t> values) override {
    file_.add(path, shape, values);
  }
  void array(const std::string& path, const Shape& shape,
             const std::vector<std::string>& texts) override {
    file_.add(path, shape, texts);
  }
  void text(const std::string& path, const std::string& name, const std::string& value) override {
    file_.add(below(path, name), {}, std::vector<std::string>{value});
  }
  void number(const std::string& path, const std::string& name, std::int64_t value) override {
    file_.add(below(path, name), {}, std::span<const std::int64_t>(&value, 1));
  }
  // NPZ files have no plotting metadata.
  void plot(const std::string&, const std::string&, const std::vector<std::string>&,
            const std::vector<std::string>&, const std::vector<std::string>&) override {}

  [[nodiscard]] std::string bytes() { return file_.bytes(); }

 private:
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  }

  NpzWriter file_;
};

}  // namespace

std::string figure_as_npz(const Figure& figure) {
  NpzArrays file;
  write_arrays(figure, file);
  return file.bytes();
}

}  // namespace attnscope
