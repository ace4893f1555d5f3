"""Random numbers that need no file: element i of a name is 24 bits of Philox 4x32-10, the generator of
lib/core/rng.h, keyed by the name's hash."""
import numpy as np

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

# counter, key, block: known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
PUBLISHED = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]


def philox(counters, key):
    """Blocks [n, 4] of 32 random bits for counters [n, 4] and one key of two words. Source: Salmon et al. 2011."""
    c0, c1, c2, c3 = (counters[:, i].astype(np.uint64) for i in range(4))
    k0, k1 = (int(word) for word in key)
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = ((second >> HALF) ^ c1 ^ np.uint64(k0), second & MASK,
                          (first >> HALF) ^ c3 ^ np.uint64(k1), first & MASK)
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1)


def stable_hash(name):
    """64 bits of a name (FNV-1a)."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def mix(a, b):
    """Two 64-bit values as one (the finalizer of SplitMix64)."""
    z = (a + 0x9E3779B97F4A7C15 * (b + 1)) & 0xFFFFFFFFFFFFFFFF
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)


def random_key(path, seed=0, step=0, replica=0):
    """The key of what a random node of a graph draws in one step (lib/backend/run_info.h)."""
    return mix(mix(seed, stable_hash(path)), mix(step, replica))


def blocks_of(key, count):
    """Blocks [n, 4] of 32 random bits that hold the first `count` numbers of a key."""
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    counters = np.stack([blocks & MASK, blocks >> HALF, np.zeros_like(blocks), np.zeros_like(blocks)], axis=1)
    return philox(counters, (key & 0xFFFFFFFF, key >> 32))


def uniform(name, count):
    """Elements 0 .. count - 1 of a name, in [0, 1); each is exact in float32."""
    return uniform_of(stable_hash(name), count)


def uniform_of(key, count):
    """As above, of a key."""
    bits = blocks_of(key, count).reshape(-1)[:count]
    return (bits >> np.uint64(8)).astype(np.float64) * 2.0**-24


def normal(key, count):
    """Normal numbers 0 .. count - 1 of a key, as floats. Source: Box and Muller 1958."""
    bits = blocks_of(key, count).reshape(-1, 2).astype(np.float64)
    radius = np.sqrt(-2 * np.log((bits[:, 0] + 1) * 2.0**-32))
    angle = 2 * np.pi * bits[:, 1] * 2.0**-32
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.reshape(-1)[:count].astype(np.float32).astype(np.float64)


for counter, its_key, block in PUBLISHED:
    assert philox(np.array([counter]), its_key).tolist() == [block], "Philox does not give its published vectors"
