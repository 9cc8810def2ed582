# %% one entry at a time
# fails: entries_merge, nothing_is_dropped, entries_are_not_cut, text_without_ids
# fault: take returns a single entry, however many wait.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        if self.waiting:
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% newest first
# fails: entries_merge
# fault: Two entries come in the wrong order.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        if len(token_ids) == 2 and most > 2 and len(text) == 2:
            text, token_ids = text[::-1], token_ids[::-1]
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% a full channel drops
# fails: nothing_is_dropped
# fault: Above the high mark a put is thrown away.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        if self.unsent >= self.high:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% never pauses
# fails: the_marks
# fault: The high mark does nothing.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = False

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% goes on when empty
# fails: the_marks
# fault: It goes on only when nothing waits any more.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= 0:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% counts entries
# fails: the_counts
# fault: unsent and sent count entries, not tokens.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += 1
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent = len(self.waiting)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% cuts an entry
# fails: entries_are_not_cut
# fault: It cuts the ids of an entry and sends the whole text with the first one.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        if len(token_ids) > most:
            self.waiting.insert(0, ("", token_ids[most:]))
            token_ids = token_ids[:most]
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% a large entry never comes
# fails: entries_are_not_cut
# fault: An entry of more than `most` tokens waits for ever.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% the reason comes too early
# fails: the_end_comes_once
# fault: It comes with the first tokens after the close.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% the reason comes every time
# fails: the_end_comes_once
# fault: After the end each take says it again.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% the last reason wins
# fails: nothing_after_the_close
# fault: A second close overwrites the first reason.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% puts after the close
# fails: nothing_after_the_close
# fault: What comes after the close is delivered.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% text without ids is lost
# fails: text_without_ids, held_text_is_an_entry
# fault: A put without ids is ignored, so text that was held back never comes.
class Channel:
    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        if self.finish_reason is not None:
            return
        if not token_ids:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most):
        text = ""
        token_ids = []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


# %% a held text lets any size through
# fails: held_text_is_an_entry
# fault: More than most tokens come although an entry came before them.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not token_ids or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% a put to a full channel is refused
# fails: nothing_is_dropped
# fault: At the high mark the entry is thrown away.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None and self.unsent < self.high:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% what waits at the close is lost
# fails: the_end_comes_once
# fault: Close throws away what the reader has not taken yet.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        if self.finish_reason is None:
            self.finish_reason = finish_reason
            self.waiting.clear()
            self.unsent = 0

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% the newest entry comes first
# fails: entries_merge, nothing_is_dropped, the_counts, entries_are_not_cut, held_text_is_an_entry, the_end_comes_once
# fault: Entries leave at the wrong end.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[-1][1]) <= most):
            piece, ids = self.waiting.pop()
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% any take ends the pause
# fails: the_marks
# fault: Any take ends the pause, whatever is left.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% low turns the pause on as well
# fails: the_marks
# fault: Paused is computed from the low mark alone, so a stream pauses long before the high one.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.finish_reason, self.ended = None, False

    @property
    def paused(self):
        return self.unsent > self.low

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids = "", []
        while self.waiting and (not (text or token_ids) or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% the counts go by what was asked for
# fails: the_counts
# fault: The limit of the call is subtracted, not what went out.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent = max(self.unsent - most, 0)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% what comes after the close is still counted
# fails: nothing_after_the_close
# fault: The entry is refused and its tokens are unsent for ever.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
        if True:
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% a put between the marks ends the pause
# fails: the_marks
# fault: Each put looks at the high mark only, so a piece of text can turn the pause off.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% a close ends the pause
# fails: the_marks
# fault: The pause is forgotten although the low mark was not reached.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason
        self.paused = False

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% pauses when a reader takes much
# fails: the_marks
# fault: A take turns the pause on again while more than low waits.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        self.paused = self.unsent > self.low
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% the reason waits for one more call
# fails: the_end_comes_once
# fault: The reason never comes with tokens, always after them.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended or token_ids else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% a close without tokens is never told
# fails: the_end_comes_once, nothing_after_the_close
# fault: Close without anything to send gives nothing.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids else (text, token_ids, reason)


# %% sent counts calls
# fails: the_counts
# fault: Sent grows by one for each piece.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += 1 if token_ids else 0
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)


# %% one held text for each call
# fails: text_without_ids
# fault: After a text without ids no second one comes in the same call.
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.waiting, self.unsent, self.sent = [], 0, 0
        self.paused, self.finish_reason, self.ended = False, None, False

    def put(self, text, token_ids):
        if self.finish_reason is None:
            self.waiting.append((text, list(token_ids)))
            self.unsent += len(token_ids)
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.finish_reason = self.finish_reason or finish_reason

    def take(self, most):
        text, token_ids, first = "", [], True
        while (
            self.waiting
            and (first or self.waiting[0][1])
            and (first or len(token_ids) + len(self.waiting[0][1]) <= most)
        ):
            piece, ids = self.waiting.pop(0)
            text, token_ids, first = text + piece, token_ids + ids, False
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        return None if not text and not token_ids and reason is None else (text, token_ids, reason)
