"""PNG files of 8 or 16 bits without other libraries: for tests that write pictures and masks."""
import struct
import zlib

GRAY, COLORS, PALETTE = 0, 2, 3
CHANNELS = {GRAY: 1, COLORS: 3, PALETTE: 1}


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(rows, kind=GRAY, bits=8, palette=()):
    """A file whose rows are lists of numbers; of colors, of their channels one after the other."""
    form = {8: "B", 16: "H"}[bits]
    lines = b"".join(b"\0" + struct.pack(f">{len(row)}{form}", *row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]) // CHANNELS[kind], len(rows), bits, kind, 0, 0, 0)
    colors = chunk(b"PLTE", bytes(palette)) if palette else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + colors + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def read_png(data):
    """Kind and rows of a file of 8 bits."""
    at, chunks = 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + size]
        at += 12 + size
    width, height, bits, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert bits == 8, bits
    channels = CHANNELS[kind]
    lines = zlib.decompress(chunks[b"IDAT"])
    stride = width * channels
    rows, above = [], [0] * stride
    for y in range(height):
        method, line = lines[y * (stride + 1)], list(lines[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up, corner = (line[x - channels] if x >= channels else 0), above[x], (above[x - channels] if x >= channels else 0)
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, nearest)[method]) % 256
        rows.append(line)
        above = line
    return kind, rows
