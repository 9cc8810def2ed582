# %% no blocks are no blocks
# fails: allocate_hands_out_free_blocks
# fault: A request for 0 blocks is refused.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n < 1 or n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% the same block twice
# fails: allocate_hands_out_free_blocks, the_last_holder_frees, blocks_live_many_lives, allocate_all_or_nothing, retain_adds_one, one_holder_leaves_the_other_keeps
# fault: The block on top of the stack is looked at and not taken.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free[-1] for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% takes what it can get
# fails: allocate_all_or_nothing
# fault: Takes blocks one by one and raises in the middle.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        ids = []
        for _ in range(n):
            if not self._free:
                raise OutOfBlocks("too few")
            ids.append(self._free.pop())
            self._references[ids[-1]] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% gives fewer than asked for
# fails: allocate_all_or_nothing
# fault: The caller believes that it has all of them.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            n = len(self._free)
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% the last block is never lent
# fails: allocate_hands_out_free_blocks, allocate_all_or_nothing, one_holder_leaves_the_other_keeps, the_last_holder_frees, foreign_ids_are_refused, blocks_live_many_lives
# fault: Off by one: the pool is taken for empty with one block left.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n and n >= len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% shared means two
# fails: retain_adds_one
# fault: Retain writes 2 instead of adding one.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] = 2

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% retain takes the block off the free ones
# fails: retain_adds_one, one_holder_leaves_the_other_keeps, the_last_holder_frees
# fault: Every retain is charged like an allocation.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1
            if self._free:
                self._free.pop(0)

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% a cancel takes it from all
# fails: one_holder_leaves_the_other_keeps
# fault: Whoever frees a block makes it available, whatever the count says; the count itself is kept.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if block_id not in self._free:
                self._free.append(block_id)


# %% free forgets all holders
# fails: one_holder_leaves_the_other_keeps, the_last_holder_frees
# fault: The count is set to 0 instead of going down by one.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] = 0
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% shared blocks never come back
# fails: the_last_holder_frees
# fault: A block that was shared once is not put back.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks
        self._shared = set()

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1
            self._shared.add(block_id)

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0 and block_id not in self._shared:
                self._free.append(block_id)


# %% nothing comes back
# fails: the_last_holder_frees, blocks_live_many_lives
# fault: The count goes down, and the block is never put back on the stack.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1


# %% looks at each id by itself
# fails: double_free_in_one_call
# fault: The same id twice passes the test twice, and the count becomes negative.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id in ids:
            if self.references(block_id) < 1:
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% repeated ids count once
# fails: double_free_in_one_call, the_last_holder_frees
# fault: The list is made a set, so the second drop is lost.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        ids = set(ids)
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% put back once for each drop
# fails: the_last_holder_frees
# fault: Two drops of the last two references put the block into the stack twice.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
        for block_id in ids:
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% the drop is tested afterwards
# fails: double_free_in_one_call, double_free_is_refused, foreign_ids_are_refused
# fault: The counts have changed when the fault is found.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] < 0:
                raise IntegrityError("too often")
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% allocated blocks have no reference
# fails: allocate_hands_out_free_blocks, retain_adds_one, one_holder_leaves_the_other_keeps, the_last_holder_frees, double_free_in_one_call, double_free_is_refused, blocks_live_many_lives
# fault: The count is left at 0, so nobody can share or free the block.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% a second free is forgiven
# fails: double_free_is_refused
# fault: A free block is skipped without a word.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if 0 < self.references(block_id) < drops:
                raise IntegrityError("too often")
        for block_id in ids:
            if self._references[block_id] == 0:
                continue
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% a never allocated block may be freed
# fails: double_free_is_refused
# fault: Only blocks that were allocated at some time are guarded.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks
        self._seen = set()

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        self._seen.update(ids)
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id) and block_id in self._seen:
                raise IntegrityError("too often")
        for block_id in ids:
            if block_id not in self._seen:
                continue
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% anything can be shared
# fails: a_free_block_cannot_be_shared, nothing_changes_on_a_refusal
# fault: Retain does not ask whether anybody holds the block.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) < 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% a lone free block can be shared
# fails: a_free_block_cannot_be_shared
# fault: Retain of one block skips the test; the block is used and free at once.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0 and len(ids) > 1:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% negative ids count from the end
# fails: foreign_ids_are_refused
# fault: Block -1 is the last one of the list, so somebody else loses a reference.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if block_id >= self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% too large ids raise what Python raises
# fails: foreign_ids_are_refused
# fault: An IndexError leaves the pool.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if block_id < 0:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% the end of the pool is off by one
# fails: foreign_ids_are_refused
# fault: The id equal to the number of blocks passes the test.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id <= self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% retain changes while it looks
# fails: nothing_changes_on_a_refusal
# fault: The first blocks have one reference more when the free one is found.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)


# %% a block may be freed once in its life
# fails: blocks_live_many_lives
# fault: The guard against double frees remembers every block for ever.
class BlockPool:
    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks
        self._freed = {}

    @property
    def num_free(self):
        return len(self._free)

    def references(self, block_id):
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError("foreign")
        return self._references[block_id]

    def allocate(self, n):
        if n > len(self._free):
            raise OutOfBlocks("too few")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids):
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError("free")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids):
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError("too often")
        if any(self._freed.get(block_id, 0) > 1 for block_id in ids):
            raise IntegrityError("freed before")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)
                self._freed[block_id] = self._freed.get(block_id, 0) + 1
