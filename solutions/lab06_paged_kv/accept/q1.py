# %% math.ceil
import math


def slots_needed(num_prompt_tokens, num_output_tokens):
    stored = num_output_tokens - 1
    return num_prompt_tokens + stored


def blocks_for(num_tokens, block_size):
    return math.ceil(num_tokens / block_size)


def longest_total(num_blocks, block_size):
    return 1 + block_size * num_blocks


# %% divmod, and a longest total that asks the others
def slots_needed(num_prompt_tokens, num_output_tokens):
    return sum([num_prompt_tokens, num_output_tokens]) - 1


def blocks_for(num_tokens, block_size):
    full, rest = divmod(num_tokens, block_size)
    return full + 1 if rest else full


def longest_total(num_blocks, block_size):
    total = 0
    while blocks_for(slots_needed(total + 1, 0), block_size) <= num_blocks:
        total += 1
    return total


# %% rounds up before it divides
def slots_needed(num_prompt_tokens, num_output_tokens):
    if num_output_tokens == 1:
        return num_prompt_tokens
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens, block_size):
    return (num_tokens + block_size - 1) // block_size


def longest_total(num_blocks, block_size):
    slots = [block * block_size + offset for block in range(num_blocks) for offset in range(block_size)]
    return len(slots) + 1


# %% lambdas of one another
def slots_needed(num_prompt_tokens, num_output_tokens):
    return len([*range(num_prompt_tokens), *range(1, num_output_tokens)])


def blocks_for(num_tokens, block_size):
    return len(range(0, num_tokens, block_size))


def longest_total(num_blocks, block_size):
    return len(range(num_blocks * block_size)) + len("x")
