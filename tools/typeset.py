#!/usr/bin/env python3
"""Typeset the formulas of the built guide: `python3 tools/typeset.py target/guide`.

The pages are written in plain Unicode mathematics, such as x_t, T^(2/3) and √(Σ‖g_t‖²). This text is
readable in an editor, in rustdoc and on a code host. After mdBook has built the guide, this program
finds the formulas in each page and replaces them by MathML, which browsers draw themselves: no
script, no font and no network is needed. Code, pictures and <cite> are left alone.

    x_t  x_{t−1}  x₁        subscripts: one letter, a number, or what is in braces
    T^a  T^(2/3)  ‖x‖²      superscripts
    √T  √(2LT)              roots
    Σ_{t≤T} ⟨g_t, x⟩        sums; brackets may hold commas
    ℓ2, ℓ1.5, ℓp            names of norms, with a subscript

A single letter is a formula, unless it is the word "a", "A" or "I". Numbers alone are not.
`--list` prints the formulas instead of writing them, and `--test` runs the examples in this file.
"""

import doctest
import html
import pathlib
import re
import sys

FUNCTIONS = {"ln", "log", "exp", "tanh", "cosh", "max", "min", "argmin", "argmax", "sgn"}
PRODUCTS = set("GD GT GDT GR GRT GL KG KGD kGD RG LT CT dT dTk tR sD rG nx Ax aY ay kr dt dx md Nd MK sK yz".split())
SKIPPED = {"pre", "code", "script", "style", "svg", "cite", "math", "title", "button"}
OPEN = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "‖": "‖", "|": "|", "⌈": "⌉"}
RELATIONS = "=≤≥<>∈≠≈→←∝"
BINARY = "+−·×/±"
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀˣⁿ", "0123456789+−Txn"))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉ₜ", "0123456789t"))
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+−]?\d+)?(?!\d)|[½¼¾]")
LETTER = re.compile(r"[A-Za-zα-ωΑ-ΩℓℝỹÕ]̃?")
LETTERS = re.compile(r"(?:[A-Za-zÀ-ÖØ-öø-ɏα-ωΑ-Ωℓℝỹ]̃?)+")
TEXT = re.compile(r"[a-z]+(?:-[a-z]+)*")
NAMED = re.compile(r"([a-z]{3,})_[a-z](?![\w])")
NORM = re.compile(r"ℓ(\d+(?:\.\d+)?|[pqs](?!\w)|∞)")


WORDS = re.compile("C program|C compiler|plain C|Extremal / C|L-BFGS|JRSS B|SIAM J")  # no variables
BREAK, SOFT_BREAK = "\0", "\1"  # where a long formula may continue on a new line


def tag(name, content, attributes=""):
    return f"<{name}{attributes}>{content}</{name}>"


def sign(text, attributes=""):
    return tag("mo", html.escape(text), attributes)


class Formula:
    """Reads one formula from the text. `end` is the end of the formula. `weight` counts the
    mathematical symbols other than letters and numbers. `letters` counts the single letters."""

    def __init__(self, text):
        self.text = text

    def read(self, start):
        self.weight, self.letters, self.names = 0, 0, 0
        content, self.end = self.run(start, None, False)
        return content

    def char(self, at):
        return self.text[at] if at < len(self.text) else ""

    def run(self, at, closing, words):
        """Operands with operators between them, up to `closing`. Outside of brackets, the operands end
        where the mathematics ends. Returns (None, at) if the brackets contain something else."""
        text, out, end = self.text, [], at
        last, pending = "start", []
        while True:
            spaced = at
            while self.char(at) and self.char(at) in " \n":
                at += 1
            spaced, c = at > spaced, self.char(at)
            if closing and c == closing and last in ("operand", "…"):
                return "".join(out + pending), at + 1
            if closing and c and c in ",;:" or closing and text.startswith("..", at):
                width = 2 if c == "." else 1
                out += pending + [sign(text[at:at + width])]
                last, pending, at = "comma", [], at + width
                continue
            blank = c == "·" and closing and last in ("start", "comma")  # that of ‖·‖
            if c and c in RELATIONS + BINARY and not blank:
                if c == "/" and spaced or last == "start" and c not in "−±" and closing != "}":
                    break
                if last == "operator" and c not in "−±":
                    break
                if c in "+−" and self.char(at + 1) == "=":
                    c += "="  # the assignments += and −=
                form = ' form="prefix"' if last in ("start", "operator", "comma") else ' form="infix"'
                tight = ' lspace="0" rspace="0"' if c == "/" else ""
                if last == "operand" and not closing:
                    pending.append(BREAK if c in RELATIONS else SOFT_BREAK if c in "+−" else "")
                pending.append(sign(c, form + tight))
                self.weight += c in "=≤≥∈≠≈→∝·+=−="
                last, at = "operator", at + len(c)
                continue
            if c == "…" and (closing or last == "operator"):
                out += pending + [sign("…")]
                last, pending, at = "operand", [], at + 1
                end = at
                continue
            if last == "operand" and spaced and not closing and not self.is_strong(at):
                break
            if last == "operand" and spaced and closing and c == "(":
                break
            name = TEXT.match(text, at) if words or closing in ("⟩", "|", "‖") else None
            name = None if NAMED.match(text, at) else name
            if name and len(name[0]) > 1 and name[0] not in FUNCTIONS | PRODUCTS:
                operand, at = tag("mtext", name[0]), name.end()
            else:
                before = (self.weight, self.letters)
                operand, next_at = self.operand(at, last, closing)
                if operand is None:
                    self.weight, self.letters = before
                    break
                at = next_at
            gap = '<mspace width="0.2em"/>' if last in ("operand", "function") and spaced else ""
            function = operand.startswith("<!--function-->")
            operand = operand.removeprefix("<!--function-->")
            if function:
                pending += [gap, operand]
                last = "function"
                continue
            out += pending + [gap, operand]
            last, pending, end = "operand", [], at
        return (None, at) if closing else ("".join(out), end)

    def is_strong(self, at):
        """Whether the text here can continue a formula after a space, because it is not a word."""
        c = self.char(at)
        if c and c in "Σ√‖⟨|∇∫":
            return True
        letters = LETTERS.match(self.text, at)
        if not letters:
            return False
        after = self.char(letters.end())
        if letters[0] in FUNCTIONS:
            return after == "(" or after == "_"
        return len(letters[0]) == 1 and bool(after) and (after in "_^" or after in RAISED)

    def operand(self, at, last, closing):
        """One operand with its scripts, or (None, at)."""
        text, c = self.text, self.char(at)
        number = NUMBER.match(text, at)
        norm = NORM.match(text, at)
        letters = LETTERS.match(text, at)
        named = NAMED.match(text, at)
        if named:
            base, at = self.scripts(tag("mtext", named[1]), named.end(1))
            return base, at
        if norm:
            self.weight += 1
            base, at = tag("msub", tag("mi", "ℓ") + self.plain(norm[1])), norm.end()
        elif number:
            base, at = tag("mn", number[0]), number.end()
        elif c == "√":
            self.weight += 1
            if self.char(at + 1) == "(":
                inside, at = self.run(at + 2, ")", False)
            else:
                inside, at = self.operand(at + 1, "operator", closing)
            if inside is None:
                return None, at
            return tag("msqrt", inside), at
        elif c and c in "Σ∫":
            self.weight += 1
            base, at = self.scripts(sign("∑" if c == "Σ" else c, ' largeop="false" lspace="0" rspace="0.1em"'), at + 1)
            return "<!--function-->" + base, at
        elif c and c in "∇∞·∅":
            if c == "·" and last not in ("start", "comma"):
                return None, at
            self.weight += 1
            base, at = (tag("mi", c), at + 1) if c != "·" else (sign("·"), at + 1)
        elif c and c in OPEN:
            base, at = self.group(at, False)
            if base is None:
                return None, at
        elif letters and letters[0] in FUNCTIONS:
            self.names += 1
            base, at = self.scripts(tag("mi", letters[0]), letters.end())
            return "<!--function-->" + base, at
        elif letters and self.is_letter(at, letters[0], last, closing):
            product = re.compile("[A-Za-z]+").match(text, at)
            before = product[0][:-1] if product else ""
            at += len(before)
            letter = LETTER.match(text, at)
            self.weight += letter[0][0] > "z"
            self.letters += 1
            base, at = self.scripts(tag("mi", letter[0]), letter.end())
            base = "".join(tag("mi", c) for c in before) + base
            if letter[0] == "O" and self.char(at) == "(":
                base, at = self.applied(base, at, True)
                return base, at
        else:
            return None, at
        base, at = self.scripts(base, at)
        if self.char(at) == "(" and letters:
            base, at = self.applied(base, at, False)
        return base, at

    def applied(self, base, at, words):
        """A function with its argument, such as f(x) or O(non-zeros)."""
        before = (self.weight, self.letters)
        inside, after = self.group(at, words)
        if inside is None:
            self.weight, self.letters = before
            return base, at
        return self.scripts(base + inside, after)

    def is_letter(self, at, letters, last, closing):
        """Whether the letters here are variables and not a word."""
        latin = re.findall(r"[A-Za-z]+", letters)
        if not all(len(part) == 1 or part in PRODUCTS for part in latin):
            return False
        if any(c not in "ỹÕ" and not LETTER.match(c) for c in letters.replace("̃", "")):
            return False
        if re.match(r"\d", self.text[at + len(letters):]) and letters[-1] != "ℓ":
            return False
        if letters not in ("a", "A", "I") or last == "operand" and self.text[at - 1] != " ":
            return True
        rest = self.text[at + 1:]
        if rest[:1] and rest[:1] in "_^(·√" or letters != "I" and rest[:1] == "/" or rest[:1] in RAISED or re.match(r" ?[=≤≥<>∈+−·]", rest):
            return not (rest[:1] == "(" and letters == "I")
        if last in ("operator", "function") or closing or last == "operand":
            return not re.match(r"\s[a-z]{2}", rest)
        if letters == "A":
            return bool(re.search(r"[a-z,] $", self.text[:at]))
        return letters == "a" and bool(re.match(r"(,| and| or) [a-z]\b| (?:on|of|is|at|in|as|to)\b|[.,;:)]|$", rest))

    def group(self, at, words):
        opening = self.char(at)
        inside, end = self.run(at + 1, OPEN[opening], words)
        if inside is None:
            return None, at
        self.weight += opening in "⟨‖|⌈"
        fixed = ' stretchy="false" lspace="0" rspace="0" form="{}"'
        return sign(opening, fixed.format("prefix")) + inside + sign(OPEN[opening], fixed.format("postfix")), end

    def plain(self, text):
        return tag("mn", text) if text[0].isdigit() else tag("mi", text)

    def script(self, at):
        """The subscript after _ or the superscript after ^, without its brackets."""
        c = self.char(at)
        if c and c in "({":
            before = self.letters
            inside, end = self.run(at + 1, OPEN[c], True)
            self.letters = before
            return (tag("mrow", inside), end) if inside is not None else (None, at)
        found = re.compile(r"max|min|\d+|[A-Za-zα-ωΑ-Ω∞]").match(self.text, at)
        return (self.plain(found[0]), found.end()) if found else (None, at)

    def scripts(self, base, at):
        below, above = "", ""
        while True:
            c, start = self.char(at), at
            if c and c in "_^":
                found, after = self.script(at + 1)
                if found is None:
                    break
                at = after
                if c == "_":
                    below += found
                else:
                    above += found
            elif c in RAISED:
                while self.char(at) in RAISED:
                    at += 1
                above += "".join(self.plain(RAISED[r]) if RAISED[r] not in "+−" else sign(RAISED[r], ' form="prefix"')
                                 for r in self.text[start:at])
            elif c == "∞" and base.endswith("‖</mo>"):  # ‖x‖∞
                below += self.plain(c)
                at += 1
            elif c in LOWERED:
                while self.char(at) in LOWERED:
                    at += 1
                below += self.plain("".join(LOWERED[r] for r in self.text[start:at]))
            elif c and c in "'’" and not self.char(at + 1).isalpha() and "<m" in base and not base.endswith("mn>"):
                base = tag("mrow", base + sign("′", ' lspace="0" rspace="0"'))
                at += 1
            else:
                break
            self.weight += 1
        below = below and tag("mrow", below)
        above = above and tag("mrow", above)
        base = tag("mrow", base) if (below or above) and base.count("<m") > 1 else base
        if below and above:
            return tag("msubsup", base + below + above), at
        if below or above:
            return tag("msub" if below else "msup", base + (below or above)), at
        return base, at


def formulas(text):
    """The formulas of a text, each as (start, end, MathML)."""
    at, formula = 0, Formula(text)
    words = [range(*word.span()) for word in WORDS.finditer(text)]
    starts = re.compile(r"[A-Za-zα-ωΑ-Ωℓℝ0-9√∇∞½¼−(\[{⟨‖|⌈ỹÕ]")
    while found := starts.search(text, at):
        at = found.start()
        before = text[at - 1] if at else " "
        word = re.compile(r"[\w̃]+(?:[-.'’][\w]+)*").match(text, at)
        glued = before.isalnum() or before in "_’'/\\#" or before == "-" or before == "." and text[at].isalpha()
        glued = glued or any(at in word for word in words)
        content = None if glued else formula.read(at)
        after = text[formula.end:formula.end + 2] if content else ""
        cut = after[:1].isalnum() or after[:1] == "_" or re.match(r"[.][a-z]", after)
        if after[:1] == "%" or re.match(r"[ \n]?%", after):
            cut = True
        bare = content and not formula.weight and (text[at] in "({" or text[at] == "[" and "," not in content)
        said = text[at:formula.end] if content else ""
        units = bare or re.fullmatch(r"[\d.,/]+|\d[\d.,]*[kMGsBx]", said) or said == "s" and text[at - 2:at - 1].isdigit()
        if content and not cut and not units and (formula.weight or formula.letters or formula.names and "(" in content):
            yield at, formula.end, content
            at = formula.end
        elif bare:
            at += 1
        elif word and not glued and not cut:
            at = word.end() if not content else max(formula.end, at + 1)
        elif word:
            at = word.end()
        else:
            at += 1


def broken(content, length):
    """Splits a long formula into parts, because browsers do not break lines inside MathML."""
    if length < 30:
        content = content.replace(BREAK, "")
    if length < 70:
        content = content.replace(SOFT_BREAK, "")
    parts = re.split(f"[{BREAK}{SOFT_BREAK}]", content)
    return "<wbr>".join(tag("math", part) for part in parts)


def typeset(text):
    """The text, as HTML, with its formulas in MathML.

    >>> typeset("a regret of T^(2/3), or √T")
    'a regret of <math><msup><mi>T</mi><mrow><mrow><mn>2</mn><mo form="infix" lspace="0" rspace="0">/</mo><mn>3</mn></mrow></mrow></msup></math>, or <math><msqrt><mi>T</mi></msqrt></math>'
    >>> typeset("the learner's x_t")
    "the learner's <math><msub><mi>x</mi><mrow><mi>t</mi></mrow></msub></math>"
    """
    out, last = [], 0
    for start, end, content in formulas(text):
        out += [html.escape(text[last:start], quote=False), broken(content, end - start)]
        last = end
    return "".join(out) + html.escape(text[last:], quote=False)


def pieces(page):
    """The pieces of a page, each with a flag that says whether it is text that can contain formulas."""
    inside, skipped = False, 0
    for piece in re.split(r"(<!--.*?-->|<[^>]*>)", page, flags=re.DOTALL):
        if piece.startswith("<"):
            name = re.match(r"</?([a-z0-9]*)", piece)[1]
            if name == "main":
                inside = not piece.startswith("</")
            elif name in SKIPPED and not piece.endswith("/>"):
                skipped += -1 if piece.startswith("</") else 1
            yield piece, False
        else:
            yield piece, inside and not skipped


def examples():
    """
    >>> def found(text): return [text[start:end] for start, end, _ in formulas(text)]
    >>> found("In round t the learner plays x_t of a set K; I pay f_t(x_t).")
    ['t', 'x_t', 'K', 'f_t(x_t)']
    >>> found("regret ≤ Σ⟨g_t, x_t⟩ − min over x in K of ⟨Σ g_t, x⟩")
    ['Σ⟨g_t, x_t⟩', 'x', 'K', '⟨Σ g_t, x⟩']
    >>> found("a plain C program, and L-BFGS with L = 2")
    ['L = 2']
    >>> found("order T^(3/4) (Hazan's book, ch. 7), 264k rounds, 12 % of 4,000, e.g. I/O")
    ['T^(3/4)']
    >>> found("8·G·D·T^(3/4), 2GD√((4ρ² + ¼)T) and √(S·ln(1 + S/K²))")
    ['8·G·D·T^(3/4)', '2GD√((4ρ² + ¼)T)', '√(S·ln(1 + S/K²))']
    >>> found("α-strongly convex, ℓ1.5 and ℓp balls with 1 < p ≤ 2, O(non-zeros) or O(d²)")
    ['α', 'ℓ1.5', 'ℓp', '1 < p ≤ 2', 'O(non-zeros)', 'O(d²)']
    >>> found("E ≥ K·exp(θ²/(2S)) > 0 (a proof), [0, 1] and [a link]")
    ['E ≥ K·exp(θ²/(2S)) > 0']
    """


def main(arguments):
    if arguments == ["--test"]:
        return min(1, doctest.testmod().failed)
    listing = "--list" in arguments
    root = pathlib.Path([a for a in arguments if not a.startswith("-")][0])
    count = 0
    for path in sorted(root.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "<math" in page:
            continue
        out = []
        for piece, may_hold in pieces(page):
            if may_hold:
                text = html.unescape(piece)
                found = list(formulas(text))
                count += len(found)
                if listing:
                    for start, end, _ in found:
                        around = text[max(0, start - 25):start] + "⟦" + text[start:end] + "⟧" + text[end:end + 25]
                        print(f"{path.relative_to(root)}: {' '.join(around.split())}")
                piece = typeset(text)
            out.append(piece)
        if not listing:
            path.write_text("".join(out), encoding="utf-8")
    if not listing:
        print(f"{count} formulas typeset in {root}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
