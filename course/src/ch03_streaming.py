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
# # Chapter 3 · From token bytes to text
#
# 12 minutes of reading. Then do lab 03.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. A token is not a piece of text
#
# A model makes *token ids*. Each id stands for some bytes. For English text a token is often a word with a space in front, and so it looks as if tokens were text. They are not:
#
# - A character of UTF-8 has one to four bytes, and a token may end in the middle of one. For rare characters a tokenizer falls back to single bytes: then *every* token ends in the middle.
# - A string that means something to you (`END`, `User:`) is cut into tokens in many ways. Which way the model takes is its own choice.
# - Some tokens are for the model only, such as the one that ends a turn. They matter, and are not shown.
#
# So the identity of what the model has read and written is the list of ids. Text is a *view* of it, and this chapter is about making that view while the ids still come.

# %%
import os

from inference_kit import LLM, SamplingParams, viz

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"), progress=False)
for text in ("Hello world", "你好", "🙂"):
    ids = llm.model.tokenizer.encode(text, add_special_tokens=False)
    print(f"{text!r}: {[llm.core.vocabulary.token(token_id)[0].hex(' ') for token_id in ids]}")

# %% [markdown]
# ## 2. First boundary: bytes to characters
#
# UTF-8 was made so that a reader can tell from any byte what it is. A byte below `80` is a character. A byte in `80`–`bf` *continues* one. A byte in `c2`–`f4` *begins* one, and says how many bytes it has. The others (`c0`, `c1`, `f5`–`ff`) are in no character.
#
# That gives the rule of the incremental decoder: **keep back an end that begins a character and does not finish it; decode the rest.** Three bytes at most ever wait. The invariant is what a test should ask for:
#
# > The pieces, put together, are the text of all bytes together, for every way to cut them.
#
# What about bytes that are not well-formed? Models of random weights make them all the time, and good models now and then. They become `U+FFFD`, the replacement character, by *maximal subparts*: the longest start of a character that went wrong becomes one `U+FFFD`. Python's
# `bytes.decode("utf-8", "replace")` does the same, so the invariant above is also the definition.
#
# The obvious ways all break it:

# %%
DATA = "a你🙂".encode()
TOKENS = [DATA[begin : begin + 2] for begin in range(0, len(DATA), 2)]
print("each token alone, replace:", "".join(token.decode("utf-8", "replace") for token in TOKENS))
print("each token alone, ignore: ", "".join(token.decode("utf-8", "ignore") for token in TOKENS))

# %%
viz.hold_back(TOKENS, title="The same tokens through the kit's decoder")

# %% [markdown]
# ## 3. Second boundary: the least hold-back
#
# A stop string ends the answer, and is not shown. It can be spread over many tokens. So when the text ends with `EN`, and `END` is a stop, nobody knows yet. There are three ways to live with that:
#
# | way | what the reader sees | delay |
# |---|---|---|
# | send at once | the beginning of a stop that should not be there | none |
# | hold back a fixed length | right text | always as long as the longest stop, less one |
# | hold back what may still match | right text | only where the end of the text begins a stop |
#
# The third one is the least that is right. Two sentences define it:
#
# > **Hold back the longest end of the text that is a proper prefix of a stop.** Everything in front of it can be sent.
# >
# > Of all stops that have come, the one that **ends first** counts; of those that end together, the **longest**.
#
# Both look at the text only. So the answer depends neither on how the text was cut into tokens nor on the order of the list. Here is a text that keeps almost beginning a stop:

# %%
viz.hold_back(["Say ", "E", "N", "joy", " the EN", "D", " of it"], stop=["END", "ENJOY!"])

# %% [markdown]
# How much text waits on average? Take some text and a stop of 21 characters, and count after each character.

# %%
from inference_kit.streaming import held_length

STOP = "<|end of the answer|>"
TEXT = "The quick brown fox jumps over the lazy dog. It says <b>hello</b>, and 3 < 4. " * 4
waits = [held_length(TEXT[max(0, end - 40) : end], [STOP]) for end in range(1, len(TEXT) + 1)]
print(f"least hold-back: {sum(waits) / len(waits):.2f} characters on average, {max(waits)} at most")
print(f"fixed hold-back: {len(STOP) - 1} characters, always")

# %% [markdown]
# ### Many stops at once
#
# `held_length` compares the end of the text with every stop. With 64 stops that is 64 times the work. There is an old and better way (Aho and Corasick, 1975): build one automaton out of all stops, whose states are the beginnings of stops. Each character moves it
# one step; its state *is* the held-back end. Then the work per character does not grow with the number of stops. The kit's `StopMatcher` is that automaton, with a shortcut: most tokens begin no stop at all, and one search by a compiled pattern tells so.
#
# The kit keeps both, the plain one and the fast one, and a test holds them against each other on random texts. Here they are on one text, word by word. What they find is the same: the stop, and how many characters of the newest piece belong to it.

# %%
from inference_kit.streaming import PlainStopMatcher, StopMatcher

stops = [f"stop number {number}!" for number in range(64)]
for matcher in (PlainStopMatcher(stops), StopMatcher(stops)):
    found = [matcher.push(word + " ") for word in ["this", "is", "stop", "number", "7!", "and", "more"]]
    print(type(matcher).__name__, [match for match in found if match])

# %% [markdown]
# ## 4. Third boundary: what the caller gets
#
# The text ends before the stop. What of the other three things that a caller gets?
#
# - **Ids** end *with* the token that completed the stop. It was computed; it belongs to the answer.
# - **Log-probabilities** have one entry for each id, so they end there as well.
# - **Usage**, the bill, counts the ids.
#
# A step may make several tokens for one request, by speculation or by several rounds of decoding. What it made *behind* the stop never existed for the caller. See it: this engine makes up to eight tokens in a step.

# %%
free = llm.generate(["Count: one, two,"], SamplingParams(max_tokens=12, ignore_eos=True))[0]
middle = free.text[len(free.text) // 2 :][:3]
rounds = LLM(llm.config.model, decode_rounds=8, progress=False)
cut = rounds.generate(
    ["Count: one, two,"], SamplingParams(max_tokens=12, ignore_eos=True, stop=(middle,), logprobs=0)
)[0]
print(f"free: {free.text!r}, {len(free.token_ids)} tokens")
print(f"stop {middle!r}: {cut.text!r}, {len(cut.token_ids)} ids, {len(cut.logprobs)} log-probabilities")
print("token counts:", dict(cut.token_counts))

# %% [markdown]
# *Proposed* is what the runner made; *committed* is what became part of the answer. The difference was computed for nothing, and nobody is billed for it.
#
# `min_tokens` adds one rule: a stop counts only when a token behind the first `min_tokens` tokens completes it. An early one is ordinary text, also afterwards. And at the end of the answer, what was held back is released when the answer ended by itself (end token or length). After a cancel it is dropped:
# the reader has left.
#
# ## 5. How others do it
#
# The middle column was read in the code of each project; newer versions may differ.
#
# | engine | incomplete characters | stop strings |
# |---|---|---|
# | vLLM V1, `vllm/v1/engine/detokenizer.py` | the text of a window of tokens is decoded twice, with and without the newest ones; nothing is sent while it ends with `U+FFFD` | found in the new part of the text; while the answer runs, a *fixed* number of characters is held back: the longest stop less one |
# | SGLang, `python/sglang/srt/managers/detokenizer_manager.py` | a process of its own; the same window, and text that ends with `U+FFFD` waits | the matched stop comes from the scheduler; the text is cut at its first occurrence when the answer has ended |
# | TGI, `server/text_generation_server/models/model.py` and `utils/tokens.py` | the same window; a comment says why: a replacement character at the end may be an unfinished one | a pattern at the very end of the output so far, so a stop in the middle of a token is not seen |
# | TensorRT-LLM, `tensorrt_llm/executor/result.py` | the tokenizer's own incremental decoding | stop *words* are lists of token ids; the end of the ids is compared with them. Another way to cut the same text into tokens does not match |
# | transformers | read from the installed package in the next cell | `StopStringCriteria` works out beforehand which tokens can complete a stop, overhangs included |
#
# The window of tokens is a clever trick: it works with any tokenizer that can decode ids, also with those that add or remove spaces. Its price is that "ends with `U+FFFD`" is a guess: a model that really makes this character, or ill-formed bytes, makes the text wait. Working on bytes needs the exact bytes of each token, and then there is nothing to guess.

# %%
import inspect

try:
    from transformers import TextStreamer
except ImportError:
    print("transformers is not installed")
else:
    print(inspect.getdoc(TextStreamer.put))
    print("looks at categories of characters:", "unicodedata" in inspect.getsource(TextStreamer.put))

# %% [markdown]
# ## 6. What it costs
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | decode bytes, keep three of them | exact for all text, constant memory | the tokenizer must give the bytes of a token |
# | (instead: decode a window of ids twice) | any tokenizer will do | two decodes a token, and a guess about `U+FFFD` |
# | least hold-back | almost no delay | a matcher with a state for each request |
# | (instead: a fixed hold-back) | one subtraction | the delay of the longest stop on every answer |
# | one automaton over all stops | work that does not grow with their number | it is built once for each request |
# | stops are text, not ids | one meaning, whatever the tokens are | ids and text must be cut at the same token |
#
# The kit's figures for this part are in `bench/results/`, and `make bench` measures them on your machine: microseconds a token with 0, 4 and 64 stops, beside the decoders of tokenizers and of transformers.
#
# ## 7. Questions
#
# **1.** Why is it wrong to wait as long as the text ends with `U+FFFD`?
#
# <details><summary>Answer</summary>
#
# Because the character can be there for good: the model made ill-formed bytes, or it really wrote a replacement character. Nothing that comes later changes it. The text then waits for no reason, until some other character comes. Bytes that *begin* a character are the only ones that are worth waiting for.
#
# </details>
#
# **2.** Two stops, `bc` and `abcd`. The text is `abcd`. Why does `bc` win, though `abcd` began earlier?
#
# <details><summary>Answer</summary>
#
# When `c` has come, `bc` is a fact, and `abcd` is a hope. An engine that waits for `d` would have to take text back when something else comes. With "the earliest end" a decision is never taken back, and it is the same however the text is cut.
#
# </details>
#
# **3.** A stop string contains a character that the model writes as three byte tokens. What must wait, and where?
#
# <details><summary>Answer</summary>
#
# The decoder keeps the first one or two bytes. The matcher sees the character when it is complete, and holds back what begins the stop in front of it. Both wait, each for its own reason, and at most three bytes and one stop less one character are kept.
#
# </details>
#
# **4.** A special token stands between two halves of a stop string. Does the stop match?
#
# <details><summary>Answer</summary>
#
# In this kit stops are sought in the text of *all* tokens, with special ones written out, so the token stands between the halves and there is no match. What is shown leaves special tokens out. So there are two positions to keep: one in what is matched, one in what is shown.
#
# </details>
#
# **5.** Why does a reader who cancels not get the held-back text, while one whose answer reached its length does?
#
# <details><summary>Answer</summary>
#
# At the length the answer is over, and the held-back end turned out to be ordinary text: it belongs to the answer. A reader who cancels has said that nothing more is wanted, and a write after that goes to nobody.
#
# </details>
#
# **6.** Your server reports "tokens per second". A stop cuts six of eight tokens of a step. Which number do you divide?
#
# <details><summary>Answer</summary>
#
# Name it. The device made eight (proposed), the answer has two (committed), and the client may have got one so far (sent). All three are useful; a figure that does not say which one it is, is not.
#
# </details>
#
# ## References
#
# - The Unicode standard, chapter 3: well-formed UTF-8, and the replacement of maximal subparts.
# - A. Aho, M. Corasick: Efficient string matching: an aid to bibliographic search. Communications of the ACM, 1975.
# - The files named in section 5.
#
# Next: lab 03.
