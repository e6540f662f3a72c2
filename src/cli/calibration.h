#pragma once
// What drafting learned, kept for the next call: one small file for each pair of models, kinds of drafting and machine. It holds counts
// and prices, no word of any text. A file that is damaged, of another version or of another pair is as good as none.
#include <filesystem>
#include <string>

#include "cli/runtime.h"

namespace outrider::cli {

class Calibration {
 public:
  // As --calibration says: auto, off or a folder. A folder that was named is made when it is missing.
  static Result<Calibration> make(const Values& values, const Runtime& runtime);

  void recall(Engine& engine) const;
  // Errors: the folder that --calibration names cannot be written. The default one may fail in silence.
  Result<void> keep(Engine& engine) const;

 private:
  std::filesystem::path file(const std::string& key) const;
  std::string key(const Engine& engine) const;  // all that the figures hold for, as text

  std::filesystem::path folder_;  // empty: off
  bool named_ = false;            // by the user
  std::string machine_and_models_;
};

}  // namespace outrider::cli
