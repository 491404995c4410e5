#pragma once

#include "evaluate/evaluation.h"

#include <string>

namespace sweep::cli {

// One line on standard error that is replaced as the stages go by; nothing where that is no
// terminal. The line is gone when the object ends.
class ProgressLine {
 public:
  explicit ProgressLine(bool on);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  ~ProgressLine() { clear(); }

  // Stands before what follows, e.g. "2/6 TILE=64".
  void prefix(std::string text) { prefix_ = std::move(text); }

  void show(const evaluate::ProgressEvent& event);

  // Something else is at work.
  void say(const std::string& what);

  void clear();

 private:
  bool on_;
  bool shown_ = false;
  std::string prefix_;
};

}  // namespace sweep::cli
