"""Strings that try a tokenizer: code, languages, emoji, combining marks, digits, whitespace, controls, look-alikes of special tokens, random Unicode."""
import random

CODE = [
 "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
 "#include <vector>\nint main() {\n\tstd::vector<int> v{1, 2, 3};\n\tfor (auto& x : v) x *= 2;  // double\n\treturn v[0] != 2;\n}\n",
 "fn main() {\n    let s: String = \"héllo\".chars().rev().collect();\n    println!(\"{s:?} {}\", s.len());\n}\n",
 "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tch := make(chan int, 4)\n\tgo func() { defer close(ch); ch <- 42 }()\n\tfmt.Println(<-ch)\n}\n",
 "const f = async ({ a, ...rest }) => {\n  const r = await fetch(`/api/${a}?x=${rest.x ?? 0}`);\n  return r.ok ? r.json() : null;\n};\n",
 "interface Point<T extends number> { readonly x: T; y?: T }\ntype Keys = keyof Point<number> & string;\n",
 "public static void main(String[] args) throws IOException {\r\n    Map<String, List<Integer>> m = new HashMap<>();\r\n}\r\n",
 "var q = from x in xs where x.Age >= 18 orderby x.Name select new { x.Name };\nConsole.WriteLine($\"{q.Count():N0}\");\n",
 "fun <T> List<T>.second(): T? = if (size > 1) this[1] else null\n", "guard let url = URL(string: \"https://example.com\") else { return }\n",
 "class Foo < Bar\n  attr_reader :x\n  def initialize(x) = @x = x\n  def to_s; \"#{@x}\"; end\nend\n",
 "<?php\nforeach ($arr as $k => $v) { echo \"$k: {$v['name']}\\n\"; }\n?>", "my %h = map { $_ => 1 } grep { !/^#/ } <STDIN>; print join(',', sort keys %h), \"\\n\";\n",
 "local t = setmetatable({}, {__index = function(_, k) return k .. '!' end})\nprint(t.hello, #t)\n",
 "quicksort (x:xs) = quicksort [y | y <- xs, y < x] ++ [x] ++ quicksort (filter (>= x) xs)\n", "let rec fact = function 0 -> 1 | n -> n * fact (n - 1) ;;\n",
 "defmodule M do\n  def sum([h | t]), do: h + sum(t)\n  def sum([]), do: 0\nend\n", "-module(m).\n-export([f/1]).\nf(X) when X > 0 -> {ok, X}; f(_) -> error.\n",
 "(defn f [x & xs] (->> xs (map inc) (reduce + x)))\n", "object Main extends App { println((1 to 10).map(_ * 2).sum) }\n",
 "SELECT u.id, COUNT(*) AS n\nFROM users u LEFT JOIN orders o ON o.uid = u.id\nWHERE u.name LIKE '%''s%'\nGROUP BY 1 HAVING n > 3;\n",
 "<!DOCTYPE html>\n<html><head><title>A &amp; B</title></head><body class=\"x y\"><br/><table><tr><td>1</td></tr></table></body></html>\n",
 ".card:hover > a[href^='http']::after { margin: -1.5rem auto 0 !important; color: #ff00aa80; }\n", "<?xml version=\"1.0\"?><a xmlns:b=\"urn:c\"><b:d e='f'/><![CDATA[<>&]]></a>\n",
 "{\"name\": \"x\", \"list\": [1, 2.5e-3, true, null], \"nested\": {\"k\\u00e9y\": \"v\\n\"}}\n", "jobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          make -j$(nproc)\n",
 "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n", "CFLAGS ?= -O2 -Wall\nall: $(OBJS)\n\t$(CC) $^ -o $@ && ./$@ --help\n.PHONY: all\n",
 "FROM debian:12\nRUN apt-get update && apt-get install -y --no-install-recommends \\\n    g++ cmake && rm -rf /var/lib/apt/lists/*\n",
 "for f in *.txt; do\n  [[ -s \"$f\" ]] && sed -i 's/\\bfoo\\b/bar/g' \"${f%.txt}.md\" 2>/dev/null || exit 1\ndone\n", "Get-ChildItem -Recurse | Where-Object { $_.Length -gt 1MB } | Select-Object FullName\n",
 "\\begin{equation}\n  \\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\label{eq:1}\n\\end{equation}\n", "df %>% filter(x > 0) %>% mutate(y = log(x)) -> z; plot(z$x, z$y, col='red')\n",
 "function f(x::AbstractVector{T}) where T<:Real\n    @inbounds sum(abs2, x) ≈ 1 ? x : x ./ √(x'x)\nend\n", "      PROGRAM HELLO\n      DO 10 I=1,10\n   10 WRITE(*,*) I**2\n      END\n",
 "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. HELLO.\n", "section .text\nglobal _start\n_start:\n    mov eax, 0x3c\n    xor edi, edi\n    syscall\n", "pub fn main() !void { const x: ?u32 = null; _ = x orelse 0; }\n",
 "proc fib(n: int): int =\n  if n < 2: n else: fib(n-1) + fib(n-2)\n", "append([], L, L).\nappend([H|T], L, [H|R]) :- append(T, L, R).\n", "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,4 @@\n int x;\n-int y;\n+int y = 0;\n+int z;\n",
 "module counter(input clk, output reg [7:0] q);\n  always @(posedge clk) q <= q + 8'd1;\nendmodule\n", "    if (x):\n\t    pass\n        \treturn None\n", "x=1;y=2;z=x+++y---1;a<<=2;b>>>=3;c!==d;e===f;g??=h;i?.j;k**=2\n",
 "AbstractSingletonProxyFactoryBean getHTTPResponseCode2xx snake_case_name SCREAMING_CASE kebab-case-name $dollar @at #hash\n", "0xDEADBEEF 0b1010_1010 0o755 1_000_000 1e-9f 3.14L 'c' '\\n' \"\\x41\\u00e9\" r\"raw\" b'bytes'\n",
]
PROSE = [
 "The quick brown fox jumps over the lazy dog.", "Don't you think it's what we'd've said? They'll know I'm right; you're WE'RE YOU'LL I'D SHE'S", "Größe, Straße, Übermut — „Anführung“ und ‚einfach‘.", "L’été dernier, où étiez-vous ? «C’est ça», dit-elle…",
 "El niño comió piñas; ¿cuándo? ¡Ahora!", "Não há razão para a preocupação.", "Perché no? È così che funziona, però.", "Zażółć gęślą jaźń.", "Příliš žluťoučký kůň úpěl ďábelské ódy.", "Árvíztűrő tükörfúrógép.", "Pijamalı hasta yağız şoföre çabucak güvendi. İIıi",
 "Flygande bäckasiner söka hwila på mjuka tuvor.", "Hyvää päivää, mitä kuuluu?", "Съешь ещё этих мягких французских булок, да выпей чаю.", "Щастя і здоров'я! Їжак у ґанку.", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.", "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر", "السَّلَامُ عَلَيْكُمْ وَرَحْمَةُ ٱللَّٰهِ",
 "עטלף אבק נס דרך מזגן שהתפוצץ כי חם", "בְּרֵאשִׁית בָּרָא אֱלֹהִים", "پیشینهٔ زبان می‌خواهم", "یہ اردو ہے۔", "यह हिन्दी का एक वाक्य है। क्षत्रिय ज्ञान", "এটি বাংলা ভাষা।", "ਇਹ ਪੰਜਾਬੀ ਹੈ।", "આ ગુજરાતી છે.", "இது தமிழ் வாக்கியம்.", "ఇది తెలుగు వాక్యం.", "ಇದು ಕನ್ನಡ ವಾಕ್ಯ.",
 "ഇത് മലയാളം ആണ്.", "මෙය සිංහල වාක්‍යයකි.", "นี่คือประโยคภาษาไทยที่ไม่มีช่องว่าง", "ນີ້ແມ່ນພາສາລາວ", "ဒါက မြန်မာစာ ဖြစ်ပါတယ်။", "នេះជាភាសាខ្មែរ។", "བོད་ཡིག་འདི་ཡིན།", "ეს ქართული ენაა.", "Սա հայերեն նախադասություն է։", "ይህ አማርኛ ነው።", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᐃᓄᒃᑎᑐᑦ",
 "今天天气很好，我们去公园散步吧。", "人工智能正在改变世界；2024年，GPT-4和Qwen2.5都很流行！", "他說：「這是繁體中文」，然後離開了。", "吾輩は猫である。名前はまだ無い。", "カタカナとひらがな、ｶﾞｷﾞｸﾞ、漢字まじり文。", "안녕하세요? 저는 한국어를 공부하고 있습니다.", "한글", "Tôi nói tiếng Việt, được không? Nguyễn Ngọc Ngạn",
 "Ẹ káàbọ̀ sí Yorùbá", "Ko e lea faka-Tonga ʻeni", "ℌ𝔢𝔩𝔩𝔬 𝒲𝑜𝓇𝓁𝒹 𝟙𝟚𝟛 𝕏", "ﬁ ﬂ ﬃ ǆ ĳ Ⅷ ⅳ ㏒ ㎏ ½ ⅔ ² ³ ⁹ ₁ ① ⑳ ㉈", "Ｆｕｌｌｗｉｄｔｈ　ｔｅｘｔ　１２３", "ａ１！ｂ２？", "𠜎𠜱𠝹𠱓 𪚥 𫠠", "Ελληνικά mixed with русский and 中文 in one línea.",
]
EMOJI = ["😊", "🦙", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍💻", "🇩🇪🇫🇷🇯🇵", "1️⃣2️⃣#️⃣", "❤️‍🔥", "👍🏿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☺︎☺️", "🫠🪿🩷", "✅❌⚠️→←↑↓", "¯\\_(ツ)_/¯", "(╯°□°)╯︵ ┻━┻", "🤷🏻‍♀️🤦‍♂️", "🧑‍🤝‍🧑", "©®™℠"]
MARKS = ["á", "á", "é́̂", "ñ", "ñ", "Å", "Å", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘", "ก็ กี่ น้ำ", "हिंदी क्ष", "क़", "각", "각", "ᄀᄀᄀ", "x̄ + ȳ", "a⃗ b⃝", "ä́", "שָׁלוֹם", "é1", "1̄2̄", ".̈", " ̈ ", "\u0301start", "\u0301", "a\u0301\u0301b\u0301 \u0301c", "\u200da\u200cb\u200e"]
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_call>", "</tool_call>", "<think>", "</think>", "<repo_name>", "<reponame>", "<file_sep>", "<filename>", "<gh_stars>",
           "<issue_start>", "<jupyter_code>", "<empty_output>", "<bos>", "<eos>", "<pad>", "<unk>", "<mask>", "<s>", "</s>", "<start_of_turn>", "<end_of_turn>", "<unused0>", "<unused98>", "<0x41>", "<0x0A>", "<0xZZ>", "[multimodal]", "<table>", "</table>", "<tr>", "<td>", "<h1>", "<b>", "<sup>", "<code>",
           "<|im_start", "im_start|>", "<|", "|>", "<|im_end|", "<||im_end|>", "< |im_end|>", "<|IM_END|>", "<|im_end|>>", "<<|im_end|>", "[INST]", "[/INST]", "<<SYS>>", "[PAD151665]", "[PAD49152]", "<|object_ref_start|>", "<|vision_pad|>", "<|begin_of_text|>", "<|eot_id|>", "<image_soft_token>", ">▁</", "> </", "▁", "a▁b", "▁▁"]
CASES = ["Hello world! Café déjà vu — 123 😊", "<|im_start|>user", "  two spaces", "tab\tnl\r\n\r\n", "This is 🦙.cpp", "1234567 3.14 ١٢٣", "don't DON'T", "a\u0301", "á", "a", " ", "  ", "   ", "\n", "\n\n", "\n\n\n", "\t", "\t\t", "\r", "\r\n", " \n", "\n ", " \n ", "\r\n\r\n ", "a\n", "\na", "a \n b", "a  \n\n  b",
         "Hello", " Hello", "  Hello", "Hello ", "Hello  ", "Hello\n", "Hello\n\n", "Hello\t", "\tHello", "'s", " 's", "'S", "'sS", "''s", "'ll", "'LL", "'lL", "'l", "'re'", "it's", "IT'S", "o'clock", "rock'n'roll", "'tis 'twas", "’s it’s", "x's\n's", "1's", "'1s", "'ſ", "'K", "1", "12", "123", "1234", "12345", "123456", "1234567",
         "1,234,567.89", "3.14159", "1e10", "-1", "+1", "1-2", "1 2 3", "٣٤٥٦٧", "१२३४", "一二三", "12３４56", "½¼¾", "x²y³", "Ⅻ", "2024-01-31T12:34:56.789Z", "192.168.0.1", "#ffcc00", "$100", "100%", "€5", "...", "....", "…", "---", "***", "!!!", "?!?!", "::", "->", "=>", "==", "===", "!=", "<=", ">=", "&&", "||", "//", "/*", "*/", "<!--", "-->",
         "\u00a0", "a\u00a0b", "\u3000", "a\u3000b", "\u2028", "a\u2028b", "\u200b", "a\u200bb", "\ufeff", "\ufeffa", "\u0085", "a\u0085b", "\u180e", "\u2060", "\ufffd", "a\ufffdb", "\uffff", "\U0010ffff", "\ue000", "\U000e0001", "\x00", "a\x00b", "\x01\x02\x03", "\x1b[31mred\x1b[0m", "\x7f", "\x80\x9f", "\x0b\x0c", "a\x0bb\x0cc", "\x1c\x1d\x1e\x1f", "a\x1cb"]

def alphabet(*ranges): return [chr(c) for lo, hi in ranges for c in range(lo, hi + 1) if not 0xd800 <= c <= 0xdfff]

POOLS = {
 "white": list("    \n\n\t\r") + ["\u00a0", "\u3000", "\u2003", "\u2028", "\u0085", "\x0b", "\x0c", "\u200b", "a", "1", ".", "é", "中"], "ascii": alphabet((32, 126)), "control": alphabet((0, 31), (127, 159)) + list("ab1 "),
 "latin": alphabet((0xa0, 0x24f), (0x1e00, 0x1eff)) + list(" 'sdt1"), "greek": alphabet((0x370, 0x3ff), (0x400, 0x4ff)) + list(" .1"), "semitic": alphabet((0x590, 0x6ff)) + [" "], "indic": alphabet((0x900, 0xdff)) + [" ", "\u200d"],
 "asian": alphabet((0xe00, 0x109f), (0x1780, 0x17ff)) + [" "], "hangul": alphabet((0x1100, 0x11ff), (0xac00, 0xad00)) + [" "], "kana": alphabet((0x3000, 0x30ff), (0xff00, 0xffef)) + ["中", "1"], "han": alphabet((0x4e00, 0x5000), (0x9f00, 0x9fff), (0x20000, 0x20050)) + list("，。a1 "),
 "symbols": alphabet((0x2000, 0x2bff)) + list(" a1"), "marks": alphabet((0x300, 0x36f), (0x20d0, 0x20ff), (0xfe00, 0xfe0f)) + list("aeiou 1.\n"), "emoji": alphabet((0x1f300, 0x1f6ff), (0x1f900, 0x1f9ff)) + ["\u200d", "\ufe0f", " ", "a"],
 "math": alphabet((0x1d400, 0x1d7ff)) + [" "], "any": alphabet((0x20, 0xd7ff), (0xe000, 0x1ffff)), "every": alphabet((0, 0x10ffff)), "numbers": list("0123456789") * 3 + list("٠١२३४½²Ⅷ①〇.,-+ e%xa"), "quotes": list("''''sStTrReEvVmMlLdD  a1.\n’"),
 "code": ["(", ")", "{", "}", "[", "]", ";", "\n", "\n    ", "\t", " ", " = ", "==", "->", "::", "x", "foo", "Bar", "get_", "1", "0x", "\"", "'", "//", "#", "<", ">", "&", "|", "*", "+", "-", ".", ","],
 "words": ["the", " the", " of", "ing", " Pre", "tokeniz", "ation", " is", "\n", ".", ",", " I", "'m", "'s", " 2", "0", "2", "4", "é", " naïve", " über", "ção", " 中文", "的", "です", "🙂", "\n\n", "  ", " -", "–"],
}

def strings(seed=1):
    rng = random.Random(seed)
    out = list(CASES) + CODE + PROSE + EMOJI + MARKS + SPECIAL
    out += [line for code in CODE for line in code.split("\n") if len(line) > 12]
    out += [code.replace("\n", "\r\n") for code in CODE[::4]] + [code.replace("    ", "\t") for code in CODE[::5]] + ["    " + code.replace("\n", "\n    ") for code in CODE[::6]]
    out += [prose + " " + rng.choice(EMOJI) + "\n" + rng.choice(PROSE) for prose in PROSE] + [e + rng.choice("abc 1\n") + e for e in EMOJI] + [f"({e})" for e in EMOJI] + [m + " " + rng.choice(PROSE) for m in MARKS]
    out += [s + t for s in SPECIAL for t in ("x", " x", "\n")] + ["".join(rng.choice(SPECIAL + ["a", " ", "\n", "user\n", "  "]) for _ in range(rng.randint(2, 7))) for _ in range(160)]
    out += [f"<|im_start|>{role}\n{text}<|im_end|>\n" for role in ("system", "user", "assistant", "tool") for text in rng.sample(PROSE, 8)]
    for name in sorted(POOLS):
        for _ in range(64): out.append("".join(rng.choice(POOLS[name]) for _ in range(rng.choice([1, 2, 3, 5, 8, 13, 21, 40]))))
    out += [c * n for c in ("a", " ", "\n", "\t", "1", "=", "-", "é", "中", "😊", "ab", " \n", "'s", "\u0301") for n in (2, 3, 4, 7, 15, 16, 17, 31, 32, 33, 70)]
    seen, unique = set(), []
    for text in out:
        if text and text not in seen: seen.add(text); unique.append(text)
    return unique

if __name__ == "__main__": print(len(strings()))
