# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 03 · From token bytes to text
#
# | | |
# |---|---|
# | Difficulty | ●●●○○ |
# | Time | 120 minutes |
# | You build | an incremental UTF-8 decoder, the search for stop strings, the least hold-back, the place where ids and log-probabilities end |
# | It plugs into | the streamer of the running engine |
# | Runs on | CPU. The six questions need Python only; the last part runs a real model |
# | Read before | `course/ch03_streaming.ipynb` (12 minutes) |
#
# <!-- @badge -->
#
# Each question has a **contract**, a **stub** and a **check**. Keep the first line of each answer cell: it says which question the cell answers.
# Hints are folded below each check; `hint("lab03.q1")` shows them one by one.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, quiz, show

# %% [markdown]
# ## Why it matters
#
# A chat page went live on a Monday. It was fine in English. On Tuesday a colleague in Shanghai sent a picture of her screen: between the Chinese
# characters stood black diamonds with question marks. Nobody could repeat it: the stored answers were perfect, and the next answer to the same question looked right as well.
#
# On Wednesday the team set a stop string, `User:`, so that the model would not play both sides of the talk. Now each answer ended with a short flash:
# `Us` came, stood there for a moment, and the page drew it away again. The page had sent the beginning of a stop string before it could know that it was one.
#
# On Thursday a customer wrote that he was billed for tokens that he had never seen.
#
# All three are one subject: **a token is not a piece of text**. See it happen. Here are eight tokens as bytes, and the obvious way to show them.

# %%
TOKENS = [bytes.fromhex(part) for part in ("e4bd", "a0", "e5", "a5bd", "45", "4e", "44", "69676e6f726564")]

for token in TOKENS:
    print(f"{token.hex():>14}  ->  {token.decode('utf-8', 'replace')!r}")

# %% [markdown]
# The bytes are those of 你好, then the stop string `END` in three tokens, then one more token. The client must see 你好 and nothing else: no black diamond,
# no `E`, no word behind the stop. At the end of this lab your code does that, first with these eight tokens and then with a real model.

# %% [markdown]
# ## The mechanism
#
# Between a token and the screen there are three boundaries:
#
# 1. **Bytes → characters.** One character is one to four bytes, and a token may end inside one. The decoder keeps an incomplete character back.
# 2. **Characters → text that may be shown.** An end that could still become a stop string waits. Not more of it, and not less.
# 3. **Text → what the caller gets.** Where the text ends, the ids, the log-probabilities and the bill end too.
#
# The picture shows the kit's own parts at work on the eight tokens. *Waits* is what has come and is not sent yet.

# %%
viz.hold_back(TOKENS, stop=["END"])

# %% [markdown]
# ## Question 1 · How much of the end must wait?
#
# UTF-8 says with the first byte of a character how many bytes it has. `00`–`7f` is a character alone. `c2`–`df` is followed by one byte, `e0`–`ef` by two, `f0`–`f4` by three.
# The bytes that follow are in `80`–`bf`. A few first bytes allow less for the *second* byte; the dict `SECOND_BYTE` is given. All other bytes begin no character.
#
# **Contract.** `tail_length(data)` returns how many bytes at the end of `data` begin a character and do not finish it: 0, 1, 2 or 3.
#
# | `data` (hex) | result | why |
# |---|---|---|
# | no bytes | 0 | nothing is there |
# | `41 62` | 0 | two letters |
# | `e4 bd a0` | 0 | 你 is whole |
# | `41 e4 bd` | 2 | the third byte of a character is missing |
# | `f0 9f 98` | 3 | the fourth byte is missing |
# | `e4 41` | 0 | the letter has ended the character that `e4` began: nothing can finish it |
# | `ff` | 0 | no character begins like this |
# | `ed a0` | 0 | after `ed` the second byte must be in `80`–`9f` |

# %%
# lab03/q1 — keep this line
# @given inference_kit.streaming.utf8:CONTINUATION, SECOND_BYTE


def tail_length(data: bytes) -> int:
    """Bytes at the end of `data` that begin a well-formed character and do not finish it: 0 .. 3."""
    # TODO 1: look at the last byte, the last two, the last three: which of them starts with a first byte?
    # TODO 2: a byte in CONTINUATION is no first byte: go one further back. Other bytes that begin no character: 0.
    # TODO 3: how many bytes does the character need? Are there fewer than that?
    # TODO 4: is the second byte, if it is there, one that this first byte allows?
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.utf8:tail_length
    ### END SOLUTION


# %%
check("lab03.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `data[-2:]` are the last two bytes, and `data[-1]` is a number. `CONTINUATION` is a `range`, so `0x80 in CONTINUATION` is true.
#
# </details>
# <details><summary>Hint 2</summary>
#
# At most three bytes can wait, so a loop over the lengths 1, 2, 3 is enough. The first length whose first byte is not in `CONTINUATION` decides; look no further.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4`, after you have sent home everything outside of `0xC2`–`0xF4`.
# The second byte must be in `SECOND_BYTE.get(first, CONTINUATION)`.
#
# </details>
#
# Expected picture: some ends, and how much of each waits.

# %%
show("lab03.q1")

# %% [markdown]
# ## Question 2 · Bytes in, characters out
#
# Now the decoder itself. Python can do most of the work: `utf_8_decode(data, "replace", False)` returns the text *and how many bytes it has used*. With `False` it leaves
# an incomplete end alone. It is a little too careful in one case: it also leaves `ed a0` … `ed bf`, though no character begins so. Such a pair is in `SURROGATE_STARTS`; it becomes two
# replacement characters at once, because nothing that may come can finish it.
#
# **Contract.** `push(data)` takes the bytes of one token and returns the characters that are complete now. `finish()` returns what is left: one `U+FFFD` for an incomplete character, else nothing.
# All pieces together are always `all_bytes.decode("utf-8", "replace")`. Nothing waits that is complete.
#
# | pushes (hex) | pieces |
# |---|---|
# | `e4 bd`, `a0`, `41` | `""`, `"你"`, `"A"` |
# | `48 69 e4`, `bd a0` | `"Hi"`, `"你"` |
# | `ff`, `41` | `"\ufffd"`, `"A"` |
# | `e4`, `41` | `""`, `"\ufffdA"` |
# | `ed`, `a0` | `""`, `"\ufffd\ufffd"` |
# | `e4 bd`, then `finish()` twice | `""`, `"\ufffd"`, `""` |
#
# A `U+FEFF` at the beginning is content like any other character; it is sent.

# %%
# lab03/q2 — keep this line
from codecs import utf_8_decode

# @given inference_kit.streaming.utf8:REPLACEMENT, SURROGATE_STARTS


class Utf8Stream:
    """Bytes in, characters out. `self._pending` holds the bytes that wait."""

    def __init__(self):
        self._pending = b""

    def push(self, data: bytes) -> str:
        """The characters that `data` completes."""
        # TODO 1: put the bytes that waited in front of the new ones.
        # TODO 2: decode what can be decoded; what was not used waits.
        # TODO 3: if what waits is in SURROGATE_STARTS, it waits in vain: replace it now.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.utf8:Utf8Decoder.push
        ### END SOLUTION

    def finish(self) -> str:
        """The text of an incomplete character at the end; a second call returns nothing."""
        # TODO 4: decode what waits, with "replace", and forget it.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.utf8:Utf8Decoder.finish
        ### END SOLUTION


# %%
check("lab03.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `text, used = utf_8_decode(data, "replace", False)`. The bytes that wait are `data[used:]`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `push(b"")` is legal and must change nothing. If you always decode `self._pending + data`, it does.
#
# </details>
# <details><summary>Hint 3</summary>
#
# For `finish`, swap first and decode then: `rest, self._pending = self._pending, b""`. An incomplete character is one ill-formed sequence, so `"replace"` makes one `U+FFFD` of it.
#
# </details>
#
# Expected picture: the first four tokens of the story. Nothing black ever appears.

# %%
show("lab03.q2")

# %% [markdown]
# ## Question 3 · Which stop comes first?
#
# There may be several stop strings. They can overlap, one can contain another one, and a caller may list them in any order. The answer must not depend on that order, and not on how the
# text was cut into tokens. So the rule looks at the text alone:
#
# > The stop that **ends first** wins. If several end at the same place, the **longest** one counts.
#
# **Contract.** `find_stop(text, stops, after)` returns `(stop, end)`: the stop string, and the number of characters of `text` up to and with its last one. Only stops whose last character stands behind the first
# `after` characters count. Without one it returns `None`.
# `stops` is a list or a tuple of strings, none of them empty. It belongs to the caller: leave it as it is.
#
# | call | result |
# |---|---|
# | `("oneENDtwoSTOP", ["STOP", "END"], 0)` | `("END", 6)` |
# | `("abcd", ["abcd", "bc"], 0)` | `("bc", 3)`: it began later and ends earlier |
# | `("abc", ["c", "bc"], 0)` | `("bc", 3)` |
# | `("EN", ["END"], 0)` | `None` |
# | `("ENDxEND", ["END"], 3)` | `("END", 7)` |
# | `("xEND", ["END"], 3)` | `("END", 4)`: it may begin before |
#
# Why not "begins first"? Because a stop that has ended is a fact, and one that has begun is a guess. A stream that waits for the guess would be late, or would send text that it has to take back.


# %%
# lab03/q3 — keep this line
def find_stop(text, stops, after=0):
    """The stop that ends first behind position `after` of `text`, and where it ends; None without one."""
    # TODO 1: go through the ends, from the first one that counts to the end of the text.
    # TODO 2: which stops end there?
    # TODO 3: if there are any, return the longest of them, with its end.
    # TODO 4: no stop anywhere: None.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.stop:find_stop
    ### END SOLUTION


# %%
check("lab03.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `text.find(stop)` looks for beginnings. Here the *end* is what counts, so let the outer loop run over ends.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `text.endswith(stop, 0, end)` asks whether the first `end` characters end with `stop`, without a copy.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `for end in range(after + 1, len(text) + 1):` collect the stops that end there; `max(found, key=len)` is the longest one.
#
# </details>
#
# Expected picture: some texts, and what is found in them.

# %%
show("lab03.q3")

# %% [markdown]
# ## Question 4 · Hold back as little as possible
#
# A safe and slow server holds back one character less than the longest stop string has, all the time. With a stop of 20 characters each answer is 19 characters late, though almost nothing of it could become a stop.
#
# The least that must wait is easy to say: **the longest end of the text that begins a stop and is not the whole of it.** Everything before it can be sent. Nothing shorter would be safe.
#
# **Contract.** `held_length(text, stops)` returns how many characters at the end of `text` must wait. `stops` is as in question 3.
#
# | call | result |
# |---|---|
# | `("hello EN", ["END"])` | 2 |
# | `("hello", ["a very long stop"])` | 0 |
# | `("xaab", ["b?", "ab!", "aabb"])` | 3: `b`, `ab` and `aab` all begin a stop; the longest waits |
# | `("END", ["END"])` | 0: a whole stop waits for nothing |
# | `("END", ["ENDING", "END"])` | 3: it may become the longer one |


# %%
# lab03/q4 — keep this line
def held_length(text, stops):
    """Length of the longest end of `text` that is a proper prefix of a stop."""
    # TODO 1: try the lengths from the longest one that can wait down to 1.
    # TODO 2: is this end of the text the beginning of a stop that is longer than it?
    # TODO 3: the first length that is, is the answer; none is 0.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.stop:held_length
    ### END SOLUTION


# %%
check("lab03.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# "Proper prefix" means: shorter than the stop. `stop.startswith(end)` alone is also true for the whole stop.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `stops` may be empty, and `max` of nothing raises. `max(map(len, stops), default=0)` does not.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Start at `min(longest - 1, len(text))` and count down; `text[-length:]` is the end. Counting *up* finds the shortest one, which is wrong for `"xaab"`.
#
# </details>
#
# Expected picture: what waits at the end of some texts.

# %%
show("lab03.q4")

# %% [markdown]
# ## Question 5 · The stream
#
# Put the two functions together. The stream gets text in pieces, and sends what may be sent. `self.find(text, self.stops, 0)` and `self.hold(text, self.stops)` are the functions of questions 3 and 4; in the check they are the
# kit's, so this question is judged alone. `self.held` is the text that waits.
#
# **Contract.** `push(text)` returns what may be sent now. After a stop it returns `""`, and `stop_reason` is the stop string. What stands behind the stop
# is dropped for good. `finish()` ends the answer: it returns what still waits, once, and leaves `stop_reason` alone.
#
# | stops `["END"]`, pushes | sent |
# |---|---|
# | `"Hel"`, `"lo"` | `"Hel"`, `"lo"` |
# | `"E"`, `"N"`, `"x"` | `""`, `""`, `"ENx"` |
# | `"Hi E"`, `"ND more"` | `"Hi "`, `""`; `stop_reason` is `"END"` |
# | `"Hi E"`, `"ND more"` with `include_stop` | `"Hi "`, `"END"` |
# | after the stop: `"more"`, then `finish()` | `""`, `""` |
# | `"so EN"`, then `finish()` twice | `"so "`, `"EN"`, `""`; `stop_reason` is `None` |


# %%
# lab03/q5 — keep this line
class TextStream:
    """Text in, text out, a stop cut off."""

    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        """What may be sent now that `text` has come."""
        # TODO 1: after a stop nothing comes.
        # TODO 2: put the text that waited in front, and look for a stop.
        # TODO 3: with a stop: note it, nothing waits any more, and return what stands before it (with it, if include_stop).
        # TODO 4: without one: keep what must wait, return the rest.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.stop:PlainTextStream.push
        ### END SOLUTION

    def finish(self) -> str:
        """The answer is over: what still waits, once."""
        # TODO 5: return what waits and forget it.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.stop:PlainTextStream.finish
        ### END SOLUTION


# %%
check("lab03.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Any stop that is completed by the new text begins inside `self.held + text`. So that is the only text to look at: the sent text is gone, and it is not needed.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `ready = len(text) - self.hold(text, self.stops)` is where the text is cut in two. `text[:-0]` is empty, so do not cut with a negative number.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `stop, end = match`. Without `include_stop` return `text[: end - len(stop)]`, else `text[:end]`. Set `self.held = ""`, so that `finish()` after a stop returns nothing.
#
# </details>
#
# Expected picture: a stream with the stop `END`, push by push.

# %%
show("lab03.q5")

# %% [markdown]
# ## Question 6 · Where ids and log-probabilities end
#
# The text ends before the stop string. The *ids* do not: the token that completed the stop was computed, and it belongs to the answer. What the same step made **behind** it never existed for the caller: not in the ids, not
# in the log-probabilities, not on the bill. That was the customer of Thursday: his server made four tokens in a step and counted all of them.
#
# There is one more rule. `min_tokens` says how long an answer must be at least. A stop counts only when it is **completed** by a token behind the first `min_tokens` tokens.
# One that was completed earlier is ordinary text and never counts.
#
# **Contract.** `answer_length(pieces, stops, min_tokens, find)` returns how many tokens belong to the answer. `pieces` holds the text of each token, in order. `find` is the function of question 3.
# `pieces` and `stops` are lists or tuples of the caller: leave them as they are.
#
# | `pieces`, stops `["END"]` | result |
# |---|---|
# | `["He", "llo"]` | 2 |
# | `["He", "llo"]`, `min_tokens` 5 | 2: nobody makes up the tokens that are missing |
# | `["Hi", " E", "ND!", "x"]` | 3 |
# | `["END", "a", "END", "b"]`, `min_tokens` 1 | 3 |
# | `["E", "N", "D", "x"]`, `min_tokens` 2 | 3: it began early and is completed in time |


# %%
# lab03/q6 — keep this line
def answer_length(pieces, stops, min_tokens, find):
    """How many tokens belong to an answer: all up to and with the one that completes a stop."""
    # TODO 1: add up the text, token by token, and count.
    # TODO 2: behind the first min_tokens tokens: does a stop end inside the text of this token?
    # TODO 3: if so, this token is the last one. Without a stop all tokens belong to the answer.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.stop:answer_length
    ### END SOLUTION


# %%
check("lab03.q6")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `find(text, stops, after)` has the argument that you need: `after` is the length of the text *before* this token.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Count first, compare then: the token with number `min_tokens` is still one of the first `min_tokens`. So test `count > min_tokens`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Keep the text of the early tokens. If you throw it away, a stop that began in it is not found.
#
# </details>
#
# Expected picture: which tokens belong to the answer.

# %%
show("lab03.q6")

# %% [markdown]
# ## Plug your parts into the engine
#
# `plug` puts your `Utf8Stream` into the engine as its decoder. Your `find_stop` and `held_length` become its stop matcher. `TextStream` and
# `answer_length` are used in the cells below that; `tail_length` was practice for the decoder, and nothing here calls it. The engine takes a part only when its check says *done*; for the others it gets the kit's own, and `plug` says so.
#
# The model is SmolLM2 (135 million weights, CPU). With the environment variable `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights, which talks nonsense: many of its bytes are ill-formed. That is a good test too.

# %%
import os

from inference_kit import LLM, SamplingParams

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
parts = plug("lab03", globals())
llm = LLM(model, components=parts.components, progress=False)
question = [
    {"role": "user", "content": "Write the Chinese words for hello and for thank you, with an emoji."}
]
chunks = []
for chunk in llm.stream(
    llm.model.tokenizer.encode_chat(question), SamplingParams(max_tokens=40, stop=("###",))
):
    chunks.append(chunk)
    print(chunk.text, end="", flush=True)

# %% [markdown]
# That was your code, chunk by chunk. Count the chunks that carry ids and no text. Where an answer has not ended, each of them is a place at which the obvious way would have shown a black diamond, or too much.

# %%
silent = [chunk for chunk in chunks if chunk.token_ids and not chunk.text]
print(f"{len(chunks)} chunks, {len(silent)} of them with ids and without text")

# %% [markdown]
# Now the eight tokens of the story, through your parts and your `TextStream`:

# %%
parts.story(TOKENS, ["END"])

# %% [markdown]
# And your `answer_length` against the engine. The model answers once freely. Three characters from the middle of that answer become a stop string, and it answers again. Your function, which sees only the pieces of the free answer, must say where the second one ends.

# %%
parts.compare(llm)

# %% [markdown]
# Try a fault. In the answer cell of question 4, let the loop count up instead of down, run that cell, and run `parts = plug("lab03", globals())` again. Which check says *wrong*? What would a reader see?
# Put it back.

# %% [markdown]
# ## Quiz

# %%
quiz("lab03")

# %% [markdown]
# ## Reflection
#
# Two teams stream answers. Team A holds back the longest beginning of a stop, as you do. Team B sends everything at once, and when a stop is found it sends a correction: "take back the last two characters".
#
# In six to ten sentences: what must be true of every program between server and screen for team B's way to work? What does each way cost in delay? Name one use of a stream in which a correction comes too late for good.

# %% [markdown]
# <!-- lab03/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *A correction needs support everywhere.* Each program on the way (proxy, client library, page, log, speech output) must know the message "take back" and act on it. One that does not shows wrong text. Appending text is the one thing that all of them can do.
# 2. *Cost of team A.* Only an end that begins a stop waits, so almost all text is sent at once; the delay is at most the length of a stop less one character, and only where it looks like one. A fixed hold-back would cost that delay always.
# 3. *Cost of team B.* No delay, but text that flashes; more messages; the text that was billed, logged or measured (TTFT, tokens sent) includes what was taken back.
# 4. *Too late for good.* Something that acts on text as it comes: speech, a terminal that runs commands, a JSON parser, a tool call, another model. Any good example with a reason counts.

# %% [markdown]
# ## What to read next
#
# - `course/ch03_streaming.ipynb`: how other engines do it, and what it costs.
# - The kit's fast parts: `inference_kit/streaming/stop.py` looks for all stops at once, with an automaton whose work does not grow with their number. `inference_kit/streaming/text.py` puts decoder and matcher together.
# - The Unicode standard, chapter 3: the table of well-formed UTF-8 byte sequences, and "maximal subparts".
