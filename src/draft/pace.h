#pragma once
// Whether drafting has been paying lately for one request. It keeps a decayed ledger of tokens gained over plain decoding; in the red it
// pauses, longer each time, so that a drafter that does not suit the text costs a few rounds and no more. Only speed depends on it.
namespace outrider {

class Pace {
 public:
  // Asked in every round in which the drafter would propose: may it?
  bool open() {
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }
  // gained: tokens emitted in a round it took part in, less what plain decoding would have emitted in the same time.
  void record(double gained) {
    ledger_ = kDecay * ledger_ + gained;
    if (ledger_ > 0) next_pause_ = kShortestPause;
    if (ledger_ >= kLimit) return;
    pause_ = next_pause_;
    next_pause_ = next_pause_ < kLongestPause ? next_pause_ * 2 : kLongestPause;
    ledger_ = 0;
  }

 private:
  static constexpr double kDecay = 0.8, kLimit = -1.0;  // in tokens
  static constexpr int kShortestPause = 8, kLongestPause = 64;  // rounds
  double ledger_ = 0;
  int pause_ = 0, next_pause_ = kShortestPause;
};

}  // namespace outrider
