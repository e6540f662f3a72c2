#include "sample/accept.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace outrider {
namespace {

using Path = std::vector<int32_t>;

// Calls visit(tree) for every tree of 1..max_rows rows over tokens 0..vocabulary-1, under every labelling and every parent choice.
template <class Visit>
void for_each_tree(DraftTree& tree, int max_rows, int vocabulary, const Visit& visit) {
  visit(tree);
  if (tree.size == max_rows) return;
  const int size = tree.size;
  for (int parent = 0; parent < size; parent++) {
    for (int32_t token = 0; token < vocabulary; token++) {
      tree.add(token, parent);
      for_each_tree(tree, max_rows, vocabulary, visit);
      tree.size = size;
    }
  }
}

// A stand-in for the target: what it writes after a text depends on the whole text. Different `target` numbers give different models.
int32_t model_after(uint32_t target, const Path& text, int vocabulary) {
  uint32_t hash = target * 2654435761u + 12345;
  for (int32_t token : text) hash = (hash ^ uint32_t(token + 1)) * 16777619u + 97;
  hash ^= hash >> 15;
  return int32_t((hash * 2246822519u >> 13) % uint32_t(vocabulary));
}

Path path_to(const DraftTree& tree, int row) {
  std::array<int32_t, kMaxDraftRows> space;
  const auto tokens = tree.path_tokens(row, space);
  return {tokens.begin(), tokens.end()};
}

// Brute force: write plainly as long as some path of the tree carries the text, without looking at rows or children at all.
Path plain_text(const DraftTree& tree, uint32_t target, int vocabulary) {
  std::map<Path, bool> drafted;
  for (int row = 0; row < tree.size; row++) drafted[path_to(tree, row)] = true;
  Path text = {tree.tokens[0]};
  while (drafted.count(text)) text.push_back(model_after(target, text, vocabulary));
  return text;
}

bool has_twins(const DraftTree& tree) {
  for (int row = 1; row < tree.size; row++) {
    if (tree.child(tree.parents[size_t(row)], tree.tokens[size_t(row)]) != row) return true;
  }
  return false;
}

void expect_plain(const DraftTree& tree, uint32_t target, int vocabulary) {
  int previous = -1;
  const Acceptance a = accept(tree, [&](int row) {
    EXPECT_GT(row, previous) << "rows are visited downwards";
    previous = row;
    return model_after(target, path_to(tree, row), vocabulary);
  });
  Path text;
  for (int i = 0; i < a.length; i++) {
    ASSERT_EQ(tree.parents[size_t(a.rows[size_t(i)])], i == 0 ? -1 : a.rows[size_t(i) - 1]);
    text.push_back(tree.tokens[size_t(a.rows[size_t(i)])]);
  }
  text.push_back(a.next);
  Path want = plain_text(tree, target, vocabulary);
  if (has_twins(tree)) {  // what hangs under a second twin is out of reach: still plain text, perhaps less of it
    ASSERT_LE(text.size(), want.size());
    want.resize(text.size());
  }
  ASSERT_EQ(text, want);
}

TEST(Accept, EqualsPlainDecodingOnEverySmallTree) {
  int64_t trees = 0;
  for (const auto& [rows, vocabulary] : {std::pair{5, 2}, {4, 3}, {6, 1}}) {
    for (int32_t pending = 0; pending < vocabulary; pending++) {
      DraftTree tree(pending);
      for_each_tree(tree, rows, vocabulary, [&](const DraftTree& t) {
        trees++;
        for (uint32_t target = 0; target < 12; target++) expect_plain(t, target, vocabulary);
      });
    }
  }
  EXPECT_GT(trees, 1000);
}

// Every possible target, not only hashed ones: all functions from row to choice, for trees without duplicate children.
TEST(Accept, EveryChoiceFunctionOnSmallTrees) {
  constexpr int kVocabulary = 3;
  DraftTree tree(0);
  for_each_tree(tree, 4, kVocabulary, [&](const DraftTree& t) {
    int functions = 1;
    for (int i = 0; i < t.size; i++) functions *= kVocabulary;
    for (int f = 0; f < functions; f++) {
      std::array<int32_t, 4> chosen{};
      for (int i = 0, rest = f; i < t.size; i++, rest /= kVocabulary) chosen[size_t(i)] = rest % kVocabulary;
      const Acceptance a = accept(t, [&](int row) { return chosen[size_t(row)]; });
      int row = 0, length = 1;
      for (bool moved = true; moved;) {
        moved = false;
        for (int c = 0; c < t.size && !moved; c++) {
          if (t.parents[size_t(c)] == row && t.tokens[size_t(c)] == chosen[size_t(row)]) {
            row = c;
            length++;
            moved = true;
          }
        }
      }
      ASSERT_EQ(a.length, length);
      ASSERT_EQ(a.rows[size_t(length) - 1], row);
      ASSERT_EQ(a.next, chosen[size_t(row)]);
    }
  });
}

TEST(Accept, NothingDraftedYieldsOneToken) {
  const Acceptance a = accept(DraftTree(7), [](int) { return 9; });
  EXPECT_EQ(a.length, 1);
  EXPECT_EQ(a.accepted(), 0);
  EXPECT_EQ(a.next, 9);
}

TEST(Accept, FullChainAndDuplicates) {
  DraftTree chain(0);
  while (!chain.full()) chain.add(chain.size, chain.size - 1);
  EXPECT_EQ(chain.depth(31), 31);
  const Acceptance all = accept(chain, [](int row) { return row + 1; });
  EXPECT_EQ(all.length, kMaxDraftRows);
  EXPECT_EQ(all.next, 32);

  DraftTree twins(0);
  const int first = twins.add(5, 0);
  twins.add(6, twins.add(5, 0));  // a child under the second twin is out of reach: the first twin is taken
  const Acceptance a = accept(twins, [](int row) { return row == 0 ? 5 : 6; });
  EXPECT_EQ(a.length, 2);
  EXPECT_EQ(a.rows[1], first);
}

}  // namespace
}  // namespace outrider
