# %% a dict of counts and a deque of free ids
from collections import deque


class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks, self.block_size = num_blocks, block_size
        self._queue = deque(range(num_blocks))
        self._held = {}

    @property
    def num_free(self):
        return len(self._queue)

    def references(self, block_id):
        if block_id not in range(self.num_blocks):
            raise IntegrityError("foreign")
        return self._held.get(block_id, 0)

    def allocate(self, n):
        if len(self._queue) < n:
            raise OutOfBlocks("too few")
        ids = []
        while len(ids) < n:
            ids.append(self._queue.popleft())
            self._held[ids[-1]] = 1
        return ids

    def retain(self, ids):
        if not all(self.references(block) for block in ids):
            raise IntegrityError("not held")
        for block in ids:
            self._held[block] += 1

    def free(self, ids):
        wanted = {}
        for block in ids:
            wanted[block] = wanted.get(block, 0) + 1
            if wanted[block] > self.references(block):
                raise IntegrityError("too often")
        for block, drops in wanted.items():
            self._held[block] -= drops
            if not self._held[block]:
                del self._held[block]
                self._queue.append(block)


# %% works on copies and swaps them in at the end
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.counts = [0] * num_blocks

    @property
    def num_free(self):
        return self.counts.count(0)

    def references(self, block_id):
        if block_id < 0:
            raise IntegrityError("negative")
        try:
            return self.counts[block_id]
        except IndexError:
            raise IntegrityError("too large") from None

    def allocate(self, n):
        free = [block for block, count in enumerate(self.counts) if count == 0]
        if n > len(free):
            raise OutOfBlocks(n)
        for block in free[:n]:
            self.counts[block] = 1
        return free[:n]

    def retain(self, ids):
        new = list(self.counts)
        for block in ids:
            if self.references(block) == 0:
                raise IntegrityError("free")
            new[block] += 1
        self.counts = new

    def free(self, ids):
        new = list(self.counts)
        for block in ids:
            self.references(block)
            new[block] -= 1
            if new[block] < 0:
                raise IntegrityError("double free")
        self.counts = new


# %% a set of free ids, and the given lists
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = set(range(num_blocks))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def _known(self, block_id):
        if block_id >= 0 and block_id < len(self._references):
            return block_id
        raise IntegrityError(f"{block_id} is no block of this pool")

    def references(self, block_id):
        return self._references[self._known(block_id)]

    def allocate(self, n):
        if n <= len(self._free):
            ids = [self._free.pop() for _ in range(n)]
            for block_id in ids:
                self._references[block_id] += 1
            return tuple(ids)
        raise OutOfBlocks(f"{n} > {len(self._free)}")

    def retain(self, ids):
        for block_id in ids:
            if self._known(block_id) in self._free:
                raise IntegrityError("a free block")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id in set(ids):
            if ids.count(block_id) > self.references(block_id):
                raise IntegrityError("more drops than references")
        for block_id in ids:
            self._references[block_id] -= 1
        self._free.update(block_id for block_id in ids if self._references[block_id] == 0)


# %% a Counter of references
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._count = Counter()
        self._spare = [*range(num_blocks)]

    @property
    def num_free(self):
        return self.num_blocks - len(self._count)

    def references(self, block_id):
        if type(block_id) is not int or not (0 <= block_id <= self.num_blocks - 1):
            raise IntegrityError(f"no block {block_id!r}")
        return self._count[block_id]

    def allocate(self, n):
        taken, rest = self._spare[:n], self._spare[n:]
        if len(taken) != n:
            raise OutOfBlocks("all or nothing")
        self._spare = rest
        self._count.update(taken)
        return taken

    def retain(self, ids):
        if any(self.references(block_id) < 1 for block_id in ids):
            raise IntegrityError("nothing to share")
        self._count.update(ids)

    def free(self, ids):
        drops = Counter(ids)
        for block_id in drops:
            self.references(block_id)
        if not drops <= self._count:
            raise IntegrityError("double free")
        self._count -= drops
        self._spare += [block_id for block_id in drops if block_id not in self._count]
