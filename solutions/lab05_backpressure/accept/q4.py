# %% a deque, and counts that are computed
from collections import deque


class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.entries = deque()
        self.sent = 0
        self.paused = False
        self.reason = None
        self.said = False

    @property
    def unsent(self):
        return sum(len(ids) for _, ids in self.entries)

    def put(self, text, token_ids):
        if self.reason is None:
            self.entries.append((text, tuple(token_ids)))
            self.paused = self.paused or self.unsent >= self.high

    def close(self, finish_reason):
        self.reason = self.reason or finish_reason

    def take(self, most):
        texts, ids = [], []
        while self.entries:
            if texts and len(ids) + len(self.entries[0][1]) > most:
                break
            text, more = self.entries.popleft()
            texts.append(text)
            ids.extend(more)
        self.sent += len(ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = self.reason if not self.entries and not self.said else None
        if reason:
            self.said = True
        if not texts and not reason:
            return None
        return "".join(texts), tuple(ids), reason


# %% two lists side by side
class Channel:
    def __init__(self, high, low):
        self.marks = (high, low)
        self.texts, self.ids = [], []
        self.unsent = self.sent = 0
        self.paused = False
        self.state = ["open", None]

    def put(self, text, token_ids):
        if self.state[0] != "open":
            return
        self.texts.append(text)
        self.ids.append([*token_ids])
        self._count()

    def close(self, finish_reason):
        if self.state[0] == "open":
            self.state = ["closed", finish_reason]

    def take(self, most):
        count = tokens = 0
        for ids in self.ids:
            if count and tokens + len(ids) > most:
                break
            count, tokens = count + 1, tokens + len(ids)
        text = "".join(self.texts[:count])
        ids = [token for entry in self.ids[:count] for token in entry]
        del self.texts[:count], self.ids[:count]
        self.sent += tokens
        self._count()
        last = self.state[0] == "closed" and not self.texts
        reason = self.state[1] if last else None
        if last:
            self.state = ["over", None]
        return (text, ids, reason) if count or last else None

    def _count(self):
        high, low = self.marks
        self.unsent = sum(map(len, self.ids))
        if self.unsent >= high:
            self.paused = True
        if self.unsent <= low:
            self.paused = False


# %% an index into what was put
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.all, self.next = [], 0
        self.unsent, self.sent, self.paused = 0, 0, False
        self.closed = None
        self.over = False

    def put(self, text, token_ids):
        if self.closed is None:
            self.all.append((text, list(token_ids)))
            self.unsent += len(self.all[-1][1])
            self.paused |= self.unsent >= self.high

    def close(self, finish_reason):
        if self.closed is None:
            self.closed = finish_reason

    def take(self, most):
        begin, room = self.next, most
        while self.next < len(self.all):
            size = len(self.all[self.next][1])
            if self.next > begin and size > room:
                break
            room -= size
            self.next += 1
        part = self.all[begin : self.next]
        ids = sum((entry[1] for entry in part), [])
        self.unsent, self.sent = self.unsent - len(ids), self.sent + len(ids)
        self.paused = self.paused and self.unsent > self.low
        reason = None
        if self.next == len(self.all) and not self.over and self.closed is not None:
            reason, self.over = self.closed, True
        if part or reason:
            return ["".join(text for text, _ in part), ids, reason]
        return None


# %% two flat lists and the sizes of the entries
from collections import deque


class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.queue = deque()
        self.total = self.sent = 0
        self.paused = False
        self.reason = None
        self.said = False

    @property
    def unsent(self):
        return self.total - self.sent

    def put(self, text, token_ids):
        if self.reason is None and (text or token_ids):
            self.queue.append((text, tuple(token_ids)))
            self.total += len(token_ids)
            self.paused |= self.unsent >= self.high

    def close(self, finish_reason):
        self.reason = self.reason or finish_reason

    def take(self, most):
        texts, ids = [], []
        while self.queue:
            text, more = self.queue[0]
            if texts and len(ids) + len(more) > most:
                break
            self.queue.popleft()
            texts.append(text)
            ids.extend(more)
        self.sent += len(ids)
        self.paused = self.paused and self.unsent > self.low
        last = not self.queue and self.reason is not None and not self.said
        if not texts and not last:
            return None
        self.said = self.said or last
        return "".join(texts), ids, self.reason if last else None


# %% finds the cut first and slices
class Channel:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.entries, self.unsent, self.sent = [], 0, 0
        self.paused, self.closed, self.over = False, None, False

    def put(self, text, token_ids):
        if self.closed is None:
            self.entries = [*self.entries, (text, [*token_ids])]
            self.unsent = sum(len(ids) for _, ids in self.entries)
            if self.unsent >= self.high:
                self.paused = True

    def close(self, finish_reason):
        if self.closed is None:
            self.closed = finish_reason

    def take(self, most):
        if self.over or (not self.entries and self.closed is None):
            return None
        cut, count = min(len(self.entries), 1), len(self.entries[0][1]) if self.entries else 0
        while cut < len(self.entries) and count + len(self.entries[cut][1]) <= most:
            count += len(self.entries[cut][1])
            cut += 1
        out, self.entries = self.entries[:cut], self.entries[cut:]
        self.unsent -= count
        self.sent += count
        if self.unsent <= self.low:
            self.paused = False
        self.over = self.closed is not None and not self.entries
        return (
            "".join(text for text, _ in out),
            [i for _, ids in out for i in ids],
            self.closed if self.over else None,
        )
