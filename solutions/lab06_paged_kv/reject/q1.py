# %% every token has a slot
# fails: last_token_writes_nothing
# fault: The last token is counted although it is never computed.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% only the answer is stored
# fails: last_token_writes_nothing
# fault: The prompt is forgotten.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% two tokens are saved
# fails: last_token_writes_nothing
# fault: The prompt's last token is taken off as well.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return (num_prompt_tokens - 1) + (num_output_tokens - 1)


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% one slot per answer at least
# fails: last_token_writes_nothing
# fault: An answer of one token is given a slot of its own.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + max(num_output_tokens - 1, 1)


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% rounded down, but never to nothing
# fails: full_blocks_are_enough, a_started_block_counts_whole, any_block_size
# fault: The part-filled block counts only when it is the only one.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return num_tokens // block_size or 1


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% always one block more
# fails: full_blocks_are_enough
# fault: Adds a block also when the tokens fill their blocks exactly.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return num_tokens // block_size + 1


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% at least one block
# fails: full_blocks_are_enough
# fault: Nothing to store takes a block all the same.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return max(1, -(-num_tokens // block_size))


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% rounded to the nearest
# fails: a_started_block_counts_whole
# fault: A block that holds less than half of its tokens is left out.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return round(num_tokens / block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% rounded down
# fails: a_started_block_counts_whole, any_block_size
# fault: The part-filled last block is left out.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return num_tokens // block_size


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% as many tokens as slots
# fails: one_token_more_than_slots
# fault: The last token is not stored, so the total may be one larger.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size


# %% one token too few for safety
# fails: one_token_more_than_slots
# fault: One slot is kept back.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size - 1


# %% one token more in every block
# fails: one_token_more_than_slots
# fault: The saved slot is counted for each block.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return -(-num_tokens // block_size)


def longest_total(num_blocks, block_size):
    return num_blocks * (block_size + 1)


# %% shifts instead of dividing
# fails: any_block_size
# fault: Right only for powers of two.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return (num_tokens + block_size - 1) >> (block_size.bit_length() - 1)


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1


# %% a list of the known sizes
# fails: any_block_size
# fault: Only the sizes 1, 16 and 32 are rounded up.
def slots_needed(num_prompt_tokens, num_output_tokens):
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    if block_size in (1, 16, 32):
        return -(-num_tokens // block_size)
    return num_tokens // block_size


def longest_total(num_blocks, block_size):
    return num_blocks * block_size + 1
