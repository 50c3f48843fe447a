#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fathom {

/// Files as one text, to be sent: each file's name and its length, then its bytes.
class Parcel {
 public:
  void add(const std::string& name, const std::string& content);
  const std::string& text() const { return text_; }

  struct File {
    std::string name, content;
  };
  /// Throws Error(document_malformed) for a text that is none, or a name that leads out of a
  /// folder.
  static std::vector<File> open(const std::string& text);

 private:
  std::string text_;
};

}  // namespace fathom
