"""Changes image files: flipped bits, truncated files, other sizes, chunks that are swapped, doubled or left out. For odd_images.py."""
import struct
import zlib

import odd_files

EXTREMES = (0, 1, 2, 0x7F, 0x80, 0xFF)
WORDS = (0, 1, 2, 7, 12, 33, 255, 256, 32767, 65535)


def flip(random, file, end):
    for _ in range(random.randint(1, 3)):
        at = random.randrange(min(end, len(file)))
        file[at] = random.choice(EXTREMES) if random.random() < 0.3 else file[at] ^ 1 << random.randrange(8)
    return file


def flip_header(random, file, kind):
    return flip(random, file, 64)


def flip_anywhere(random, file, kind):
    return flip(random, file, len(file))


def truncate(random, file, kind):
    return file[: random.randrange(1, len(file))]


def other_word(random, file, kind):
    """A number of the header that other numbers contradict."""
    letter = random.choice("<>") + random.choice("HI")
    if len(file) < 10:
        return file
    struct.pack_into(letter, file, random.randrange(min(60, len(file) - 4)), random.choice(WORDS))
    return file


def other_size(random, file, kind):
    """Width, height or both where the format has them."""
    sizes = [random.choice((1, 2, 5, 13, 16, 17, 18, 34, 300)) for _ in range(2)]
    at, letter = {"PNG": (16, ">II"), "GIF": (6, "<HH"), "BMP": (18, "<ii")}.get(kind, (None, None))
    if kind == "JPEG":
        frames = [i for i in range(len(file) - 9) if file[i] == 0xFF and file[i + 1] in (0xC0, 0xC1, 0xC2, 0xC9)]
        at, letter = (frames[0] + 5 if frames else None), ">HH"
    elif kind == "PNM":
        words = bytes(file).split(None, 3)
        if len(words) == 4:
            return bytearray(b"%b %d %d\n%b" % (words[0], *sizes, words[3]))
    elif kind == "TIFF":
        return other_entry(random, file, kind)
    if at is None or len(file) < at + struct.calcsize(letter):
        return flip_header(random, file, kind)
    struct.pack_into(letter, file, at, *sizes)
    return file


def other_entry(random, file, kind):
    """Another tag, type, count or value in the list of a TIFF."""
    order = "<" if file[:2] == b"II" else ">"
    if kind != "TIFF" or len(file) < 14:
        return flip_header(random, file, kind)
    at = struct.unpack_from(order + "I", file, 4)[0]
    if at + 14 > len(file):
        return flip_anywhere(random, file, kind)
    count = struct.unpack_from(order + "H", file, at)[0]
    entry = at + 2 + 12 * random.randrange(max(1, count))
    offset, letter, values = random.choice(((0, "H", (256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 320, 338, 339)),
                                            (2, "H", (1, 2, 3, 4, 5, 16)), (4, "I", WORDS), (8, "H", WORDS), (8, "I", WORDS)))
    if entry + 12 <= len(file):
        struct.pack_into(order + letter, file, entry + offset, random.choice(values))
    return file


def parts(file, kind):
    """The chunks of a file, so that joined they are the file."""
    at, cuts = {"JPEG": 2, "PNG": 8, "WebP": 12, "GIF": 13}.get(kind, 0), []
    while at + 12 <= len(file):
        cuts.append(at)
        if kind == "PNG":
            at += 12 + struct.unpack_from(">I", file, at)[0]
        elif kind == "WebP":
            length = struct.unpack_from("<I", file, at + 4)[0]
            at += 8 + length + length % 2
        elif kind == "JPEG" and file[at] == 0xFF and file[at + 1] != 0xDA:
            at += 2 + struct.unpack_from(">H", file, at + 2)[0]
        else:
            at += max(1, len(file) // 6)
    cuts.append(len(file))
    return [file[: cuts[0]]] + [file[a:b] for a, b in zip(cuts, cuts[1:])]


def change_parts(random, file, kind):
    chunks = parts(file, kind)
    if len(chunks) < 3:
        return truncate(random, file, kind)
    one, two = random.randrange(1, len(chunks)), random.randrange(1, len(chunks))
    change = random.randrange(3)
    if change == 0:
        chunks[one], chunks[two] = chunks[two], chunks[one]
    elif change == 1:
        chunks.insert(one, chunks[two])
    else:
        del chunks[one]
    return bytearray(b"".join(chunks))


def with_right_sums(file):
    """A PNG whose checksums fit again, so that a change is not found by them alone."""
    out, at = bytes(file[:8]), 8
    while at + 12 <= len(file):
        length = struct.unpack_from(">I", file, at)[0]
        if at + 12 + length > len(file):
            break
        body = bytes(file[at + 4 : at + 8 + length])
        out += bytes(file[at : at + 4]) + body + struct.pack(">I", zlib.crc32(body))
        at += 12 + length
    return bytearray(out + bytes(file[at:]))


CHANGES = [flip_header] * 4 + [flip_anywhere] * 3 + [other_word, other_size, change_parts] * 2 + [truncate, other_entry]


def damaged(random, file, kind):
    changed = random.choice(CHANGES)(random, bytearray(file), kind)
    if kind == "PNG" and random.random() < 0.7:
        changed = with_right_sums(changed)
    if kind == "WebP" and len(changed) > 8 and random.random() < 0.5:
        struct.pack_into("<I", changed, 4, len(changed) - 8)
    return bytes(changed)


def odd_and_damaged(random, kind, count, most_odd):
    """(name, file), or (name, file, pixels) of `count` files: the odd ones of a format, at most `most_odd`, then changed ones of these."""
    odd = list(odd_files.FORMATS[kind](random))
    if len(odd) > most_odd:
        odd = [odd[i] for i in sorted(random.sample(range(len(odd)), most_odd))]
    yield from odd
    for i in range(count - len(odd)):
        name, file = random.choice(odd)[:2]
        yield f"damaged-{i}-{name}", damaged(random, file, kind)
