"""Well-formed odd image files of seven formats, by Pillow's and OpenCV's encoders, and by hand where these cannot.

Each function takes a random.Random and yields (name, bytes), and as a third the RGB pixels of files that Pillow does not read; which files it
makes does not depend on the random numbers. For odd_images.py.
"""
import base64
import itertools
import pathlib
import struct
import sys
import zlib

import cv2
import numpy
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests/golden"))
import make_images as golden  # noqa: E402

SIZES = [(1, 1), (1, 33), (33, 1), (2, 3), (7, 5), (8, 8), (9, 17), (16, 16), (17, 13), (33, 31)]
saved = golden.saved

# 17 x 13 pixels by libjpeg-turbo with arith_code: no encoder of Pillow or OpenCV has it.
ARITHMETIC = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//"
    "2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//yQARCAANABEDASIAAhEBAxEB/8wA"
    "CgAQEAUBEBEF/9oADAMBAAIRAxEAPwD/ADLK7zGIfmfaMljpbRQCS7oZ7vpORuL+XFHyDWvpp8rRkBdHgyD18rM1hFLA/9k="
)


def picture(random, width, height, channels=3):
    """Gradients with an edge and some noise."""
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [(x * random.randint(1, 20) + y * random.randint(1, 20) + random.randint(0, 255)) % 256 for _ in range(channels)]
    pixels = numpy.stack(planes, axis=-1).astype(numpy.int64)
    pixels[height // 3 : height // 2 + 1, width // 4 : width // 2 + 1] = [random.randint(0, 255) for _ in range(channels)]
    noise = numpy.frombuffer(random.randbytes(pixels.size), numpy.uint8).reshape(pixels.shape) % 9
    return numpy.clip(pixels + noise, 0, 255).astype(numpy.uint8)


def image(random, width, height, mode="RGB"):
    channels = len(Image.new(mode, (1, 1)).getbands())
    if mode == "1":
        return Image.fromarray(picture(random, width, height, 1)[..., 0]).point(lambda v: 255 * (v > 100)).convert("1")
    if mode == "P":
        return Image.fromarray(picture(random, width, height)).quantize(random.choice([2, 5, 16, 200]), dither=Image.Dither.NONE)
    pixels = picture(random, width, height, channels * (2 if mode == "I;16" else 1))
    return Image.frombytes(mode, (width, height), pixels.tobytes())


def exif(orientation, order="<", kind=3, before=1):
    """The TIFF structure of Exif data, with `before` other entries in front."""
    letter = {1: "Bxxx", 3: "Hxx", 4: "I"}[kind]
    entries = [struct.pack(order + "HHIHxx", 256 + i, 3, 1, 7) for i in range(before)]
    entries.append(struct.pack(order + "HHI" + letter, 274, kind, 1, orientation))
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(order + "IH", 8, len(entries)) + b"".join(entries) + b"\0" * 4


# ---- JPEG ------------------------------------------------------------------------------------------------------------------------

def with_segment(file, marker, content, at=2):
    return file[:at] + bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content + file[at:]


def without_segments(file, *markers):
    """A JPEG without the segments of these markers before its first scan."""
    out, at = file[:2], 2
    while file[at + 1] != 0xDA:
        length = 2 + struct.unpack(">H", file[at + 2 : at + 4])[0]
        if file[at + 1] not in markers:
            out += file[at : at + length]
        at += length
    return out + file[at:]


def jpeg_files(random):
    for (size, mode) in itertools.product(SIZES, ("RGB", "L", "CMYK")):
        yield f"{mode}-{size}", saved(image(random, *size, mode), "JPEG", quality=random.randint(1, 100))
    for size, sampling, progressive in itertools.product(SIZES[3:], (0, 1, 2), (False, True)):
        yield f"sampling-{sampling}-{progressive}-{size}", saved(image(random, *size), "JPEG", subsampling=sampling, progressive=progressive,
                                                                 optimize=random.random() < 0.5)
    for size, factor in itertools.product(SIZES[4:], (0x411111, 0x221111, 0x211111, 0x121111, 0x111111)):
        options = [cv2.IMWRITE_JPEG_QUALITY, 85, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor, cv2.IMWRITE_JPEG_RST_INTERVAL, random.choice([0, 1, 5])]
        yield f"opencv-{factor:x}-{size}", cv2.imencode(".jpg", picture(random, *size), options)[1].tobytes()
    for size in SIZES[4:]:
        yield f"restart-{size}", saved(image(random, *size), "JPEG", restart_marker_blocks=random.choice([1, 2, 3]))
        yield f"restart-rows-{size}", saved(image(random, *size), "JPEG", restart_marker_rows=1, progressive=random.random() < 0.5)
        yield f"keep-rgb-{size}", saved(image(random, *size), "JPEG", keep_rgb=True)
    for orientation, order in itertools.product(range(10), "<>"):
        data = exif(orientation, order)
        yield f"turned-{orientation}{order}", saved(image(random, *random.choice(SIZES[3:])), "JPEG", exif=b"Exif\0\0" + data)
    plain = saved(image(random, 17, 13), "JPEG", quality=80)
    for kind in (1, 4):
        yield f"turned-type-{kind}", with_segment(plain, 0xE1, b"Exif\0\0" + exif(6, "<", kind), 20)
    yield "exif-first", with_segment(plain, 0xE1, b"Exif\0\0" + exif(8))
    yield "exif-twice", with_segment(with_segment(plain, 0xE1, b"Exif\0\0" + exif(8), 20), 0xE1, b"Exif\0\0" + exif(3), 20)
    yield "exif-empty", with_segment(plain, 0xE1, b"Exif\0\0", 20)
    yield "comment", with_segment(plain, 0xFE, b"text", 20)
    yield "filled", plain[:20] + b"\xff\xff\xff" + plain[20:]
    for name, garbage in (("zeros", b"\0" * 50), ("text", b"more"), ("second", plain), ("marker", b"\xff"), ("ends", b"\xff\xd9" * 3)):
        yield f"behind-{name}", plain + garbage
    yield "no-end", plain[:-2]
    yield "half-end", plain[:-1]
    yield "no-jfif", without_segments(plain, 0xE0)
    for mode in ("RGB", "CMYK"):
        file = saved(image(random, 17, 13, mode), "JPEG", quality=85)
        bare = without_segments(file, 0xE0, 0xEE)
        yield f"{mode}-bare", bare
        for transform in range(4):
            yield f"{mode}-adobe-{transform}", with_segment(bare, 0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform))
            yield f"{mode}-jfif-adobe-{transform}", with_segment(without_segments(file, 0xEE), 0xEE,
                                                                 b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform), 20 if mode == "RGB" else 2)
    pages = saved(image(random, 17, 13), "MPO", save_all=True, append_images=[image(random, 9, 9)])
    yield "two-pictures", pages
    yield "arithmetic", ARITHMETIC


# ---- PNG -------------------------------------------------------------------------------------------------------------------------

def png_chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def filtered(rows, step, random):
    """Rows of bytes with a random filter each."""
    out, above = b"", bytes(len(rows[0])) if rows else b""
    for row in rows:
        kind = random.randint(0, 4)
        out += bytes([kind])
        for i, value in enumerate(row):
            left, up = (row[i - step] if i >= step else 0), above[i]
            corner = above[i - step] if i >= step else 0
            paeth = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            out += bytes([(value - (0, left, up, (left + up) // 2, paeth)[kind]) % 256])
        above = row
    return out


def png(random, width, height, depth, color, interlaced=False, extra=b"", parts=1, level=6):
    """`extra`: chunks in front of the pixels."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    high = random.randint(1, 1 << depth) if color == 3 else 1 << depth
    if depth == 16:
        values = numpy.frombuffer(random.randbytes(2 * width * height * channels), ">u2").astype(int)
    else:
        values = picture(random, width, height, channels).astype(int) >> (8 - depth)
    values = numpy.minimum(values.reshape(height, width, channels), high - 1)
    step = max(1, channels * depth // 8)
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b""
    for x, y, dx, dy in passes:
        part = values[y::dy, x::dx]
        if part.size:
            data += filtered(golden.packed(part, depth), step, random)
    data = zlib.compress(data, level)
    cuts = [0, *sorted(random.randint(0, len(data)) for _ in range(parts - 1)), len(data)]
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    colors = png_chunk(b"PLTE", random.randbytes(3 * high)) if color == 3 else b""
    body = b"".join(png_chunk(b"IDAT", data[a:b]) for a, b in zip(cuts, cuts[1:]))
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + colors + extra + body + png_chunk(b"IEND", b"")


PNG_KINDS = [(depth, color) for color in (0, 2, 3, 4, 6) for depth in (1, 2, 4, 8, 16)
             if depth >= 8 and (color, depth) != (3, 16) or depth < 8 and color in (0, 3)]


def png_files(random):
    for (depth, color), interlaced, size in itertools.product(PNG_KINDS, (False, True), SIZES[:5] + SIZES[-2:]):
        yield f"{depth}-bits-{color}-{interlaced}-{size}", png(random, *size, depth, color, interlaced, parts=random.choice([1, 1, 2, 7]))
    for depth, color in PNG_KINDS:
        if color in (0, 2, 3):
            clear = random.randbytes(1) if color == 3 else b"".join(struct.pack(">H", random.randrange(1 << depth)) for _ in range(1 + color))
            yield f"clear-{depth}-{color}", png(random, 17, 13, depth, color, extra=png_chunk(b"tRNS", clear))
    for orientation, order in itertools.product(range(10), "<>"):
        yield f"turned-{orientation}{order}", png(random, 7, 5, 8, 2, extra=png_chunk(b"eXIf", exif(orientation, order)))
    for name, chunk in (("gamma", png_chunk(b"gAMA", struct.pack(">I", 30000))), ("text", png_chunk(b"tEXt", b"Title\0words")),
                        ("bits", png_chunk(b"sBIT", b"\5\6\5")), ("back", png_chunk(b"bKGD", b"\0\1\0\2\0\3")),
                        ("size", png_chunk(b"pHYs", struct.pack(">IIB", 3, 1, 0))), ("srgb", png_chunk(b"sRGB", b"\0")),
                        ("unknown", png_chunk(b"abCd", b"1234")), ("colors", png_chunk(b"PLTE", bytes(range(30))))):
        yield name, png(random, 17, 13, 8, 2, extra=chunk)
    for level in (0, 9):
        yield f"level-{level}", png(random, 17, 13, 8, 6, level=level)
    yield "animated", saved(image(random, 17, 13), "PNG", save_all=True, append_images=[image(random, 17, 13)], duration=100)
    yield "animated-apart", saved(image(random, 17, 13), "PNG", save_all=True, append_images=[image(random, 17, 13)], default_image=True)
    plain = png(random, 17, 13, 8, 2)
    yield "behind", plain + b"more"
    yield "no-end", plain[:-12]
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        yield f"pillow-{mode}", saved(image(random, 33, 31, mode), "PNG", optimize=True)
    for shape in ((13, 17), (13, 17, 3), (13, 17, 4)):
        deep = numpy.frombuffer(random.randbytes(2 * int(numpy.prod(shape))), numpy.uint16).reshape(shape)
        yield f"opencv-{len(shape)}-{shape[-1]}", cv2.imencode(".png", deep)[1].tobytes()


# ---- GIF -------------------------------------------------------------------------------------------------------------------------

def lzw(indices, bits):
    """LZW without any new codes: a clear code comes before the codes would grow."""
    codes, clear = [], 1 << bits
    for i, index in enumerate(indices):
        if i % (clear - 2) == 0:
            codes.append(clear)
        codes.append(index)
    codes.append(clear + 1)
    word = sum(code << (i * (bits + 1)) for i, code in enumerate(codes))
    data = word.to_bytes((len(codes) * (bits + 1) + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255] for i in range(0, len(data), 255))
    return bytes([bits]) + blocks + b"\0"


def gif(random, canvas, frame, bits=4, common=True, own=False, interlaced=False, clear=None, back=0, more=b"", version=b"89a"):
    """`frame`: left, top, width, height. Common and own colors, or none."""
    left, top, width, height = frame
    colors = lambda: random.randbytes(3 << bits)  # noqa: E731
    file = b"GIF" + version + struct.pack("<HHBBB", *canvas, 0x80 * common + bits - 1, back, 0)
    file += colors() if common else b""
    file += more
    if clear is not None:
        file += b"!\xf9\4" + bytes([1, 5, 0, clear]) + b"\0"
    file += b"," + struct.pack("<HHHHB", *frame, 0x80 * own + 0x40 * interlaced + bits - 1) + (colors() if own else b"")
    indices = [random.randrange(1 << bits) for _ in range(width * height)]
    return file + lzw(indices, max(2, bits)) + b";"


def gif_files(random):
    for size, bits, interlaced in itertools.product(SIZES, (1, 2, 4, 8), (False, True)):
        yield f"{bits}-bits-{interlaced}-{size}", gif(random, size, (0, 0, *size), bits, interlaced=interlaced)
    for bits, clear, common, own in itertools.product((1, 3, 7), (None, 0, 1), (False, True), (False, True)):
        yield f"colors-{bits}-{clear}-{common}-{own}", gif(random, (17, 13), (0, 0, 17, 13), bits, common, own, clear=clear)
        yield f"inside-{bits}-{clear}-{common}-{own}", gif(random, (17, 13), (3, 2, 9, 7), bits, common, own, clear=clear, back=1)
    for frame in ((0, 0, 20, 5), (5, 5, 17, 13), (17, 0, 3, 3), (30, 20, 2, 2), (0, 12, 17, 1), (16, 12, 1, 1)):
        yield f"frame-{frame}", gif(random, (17, 13), frame)
    for name, more in (("comment", b"!\xfe\4text\0"), ("loop", b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0"), ("empty", b"!\xfe\0"),
                       ("two-controls", b"!\xf9\4\1\0\0\2\0"), ("text", b"!\1\x0c" + bytes(12) + b"\3abc\0")):
        yield name, gif(random, (17, 13), (0, 0, 17, 13), more=more)
    plain = gif(random, (17, 13), (0, 0, 17, 13))
    yield "87a", gif(random, (17, 13), (0, 0, 17, 13), version=b"87a")
    yield "behind", plain + b"more"
    yield "no-end", plain[:-1]
    yield "canvas-0", gif(random, (0, 0), (0, 0, 17, 13))
    for mode in ("1", "L", "P", "RGB", "RGBA", "LA"):
        for size in SIZES[3:]:
            yield f"pillow-{mode}-{size}", saved(image(random, *size, mode), "GIF", interlace=random.randint(0, 1))
    for mode in ("L", "P", "RGB"):
        yield f"frames-{mode}", saved(image(random, 17, 13, mode), "GIF", save_all=True, duration=100, loop=0, disposal=random.randint(0, 3),
                                      append_images=[image(random, 17, 13, mode) for _ in range(2)])


# ---- BMP -------------------------------------------------------------------------------------------------------------------------

def bmp_files(random):
    for size, bits, header, down in itertools.product(SIZES, (1, 2, 4, 8, 16, 24, 32), (12, 40), (False, True)):
        if header == 12 and (bits in (2, 16, 32) or down):
            continue
        width, height = size
        values = numpy.frombuffer(random.randbytes(width * height * 4), numpy.uint8).reshape(height, width, 4)
        rows = golden.packed(values[..., :1] >> (8 - bits), bits) if bits <= 8 else [row[:, : bits // 8].tobytes() for row in values]
        colors = b"".join(random.randbytes(3) + b"\0" * (header != 12) for _ in range(1 << bits)) if bits <= 8 else b""
        file = golden.bmp(rows, bits, header, -height if down else height, colors=colors, width=width)
        if bits == 2:
            rgb = numpy.frombuffer(colors, numpy.uint8).reshape(4, 4)[values[..., 0] >> 6][..., 2::-1]
            yield f"{bits}-bits-{header}-{down}-{size}", file, rgb if down else rgb[::-1]
        else:
            yield f"{bits}-bits-{header}-{down}-{size}", file
    kinds = ((0xF800, 0x7E0, 0x1F), (0x7C00, 0x3E0, 0x1F), (0x1F, 0x7E0, 0xF800), (0xF00, 0xF0, 0xF))
    for header, masks in itertools.product((40, 52, 56, 108, 124), kinds):
        rows = [random.randbytes(34) for _ in range(13)]
        behind = struct.pack("<III", *masks).ljust(max(12, header - 40), b"\0")
        yield f"masks-{header}-{masks[0]:x}", with_masks(rows, 16, header, behind), rgb_of_masks(rows, "<u2", masks)
    kinds = ((0xFF0000, 0xFF00, 0xFF), (0xFF, 0xFF00, 0xFF0000), (0xFF000000, 0xFF0000, 0xFF00), (0x3FF00000, 0xFFC00, 0x3FF))
    for header, masks in itertools.product((40, 56, 124), kinds):
        rows = [random.randbytes(68) for _ in range(13)]
        alpha = {0xFF0000: 0xFF000000, 0xFF: 0xFF000000, 0xFF000000: 0xFF}.get(masks[0], 0)
        behind = struct.pack("<IIII", *masks, alpha).ljust(header - 40, b"\0")[: max(12, header - 40)]
        yield f"masks-{header}-{masks[0]:x}", with_masks(rows, 32, header, behind), rgb_of_masks(rows, "<u4", masks)
    for count in (4, 16):
        small, indices = golden.few_colors(count)
        colors = golden.colors_of(small, count)
        yield f"rle8-{count}", golden.bmp(golden.rle8(indices), 8, compression=1, colors=colors.ljust(1024, b"\0"))
        yield f"rle4-{count}", golden.bmp(golden.rle4(indices), 4, compression=2, colors=colors.ljust(64, b"\0"))
        plain = golden.bmp(golden.packed(indices, 8)[::-1], 8, colors=colors)
        few = plain[:46] + struct.pack("<I", count) + plain[50:]
        yield f"few-colors-{count}", few
        yield f"behind-{count}", few + b"more"
    for stream in (b"\0\1", b"\5\1\0\1", b"\0\2\3\4\5\1\0\1", b"\x20\1\0\0\3\2\0\1", b"\0\3\1\2\3\0\0\0\0\1",
                   b"\1\1\0\0" * 13 + b"\0\1", b"\1\1\0\0" * 14 + b"\0\1"):
        yield f"rle8-{stream[:6].hex()}", golden.bmp(stream, 8, compression=1, colors=random.randbytes(1024))
        yield f"rle4-{stream[:6].hex()}", golden.bmp(stream, 4, compression=2, colors=random.randbytes(64))
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        for size in SIZES:
            yield f"pillow-{mode}-{size}", saved(image(random, *size, mode), "BMP")


def rgb_of_masks(rows, kind, masks):
    """Each row has 17 pixels; the lowest row is the first."""
    values = numpy.frombuffer(b"".join(rows), kind).reshape(13, 17)[::-1].astype(numpy.uint64)
    return numpy.stack([numpy.rint((values & mask) * 255 / mask) for mask in masks], axis=-1).astype(numpy.uint8)


def with_masks(rows, bits, header, behind):
    """Masks are in the header, or behind one of 40 bytes."""
    file = golden.bmp(rows, bits, 40, compression=3, behind=behind)
    return file[:14] + struct.pack("<I", header) + file[18:]


# ---- TIFF ------------------------------------------------------------------------------------------------------------------------

def tiff_files(random):
    for mode, compression, size in itertools.product(("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16"),
                                                     ("raw", "tiff_lzw", "packbits", "tiff_adobe_deflate", "tiff_deflate"),
                                                     ((1, 1), (17, 13), (33, 31))):
        yield f"{mode}-{compression}-{size}", saved(image(random, *size, mode), "TIFF", compression=compression)
    for mode, compression in itertools.product(("L", "RGB", "RGBA", "I;16"), ("tiff_lzw", "tiff_adobe_deflate")):
        for rows in (1, 5, 200):
            yield f"predictor-{mode}-{compression}-{rows}", saved(image(random, 17, 13, mode), "TIFF", compression=compression,
                                                                  tiffinfo={317: 2, 278: rows})
    for size in SIZES:
        for compression in ("group3", "group4", "tiff_ccitt"):
            yield f"{compression}-{size}", saved(image(random, *size, "1"), "TIFF", compression=compression)
        for mode in ("L", "RGB", "CMYK"):
            yield f"jpeg-{mode}-{size}", saved(image(random, *size, mode), "TIFF", compression="jpeg", quality=random.choice([30, 75, 95]))
    for mode in ("I", "F"):
        yield f"pillow-{mode}", saved(Image.new("L", (5, 4), 7).convert(mode), "TIFF")
    yield "big", saved(image(random, 17, 13), "TIFF", big_tiff=True)
    for compression in ("zstd", "lzma"):
        yield compression, saved(image(random, 17, 13), "TIFF", compression=compression)
    yield from tiffs_by_hand(random)
    for shape, kind in itertools.product(((13, 17), (13, 17, 3), (13, 17, 4)), (numpy.uint8, numpy.uint16)):
        for compression in (1, 5, 8, 32773):
            pixels = numpy.frombuffer(random.randbytes(2 * int(numpy.prod(shape))), kind)[: int(numpy.prod(shape))].reshape(shape)
            file = cv2.imencode(".tiff", pixels, [cv2.IMWRITE_TIFF_COMPRESSION, compression])[1].tobytes()
            yield f"opencv-{len(shape)}-{shape[-1]}-{kind.__name__}-{compression}", file


def tiffs_by_hand(random):
    for bits, meaning, order, size in itertools.product((1, 2, 4, 8, 16), (0, 1), "<>", ((1, 33), (17, 13))):
        values = numpy.frombuffer(random.randbytes(2 * size[0] * size[1]), "<u2").reshape(size[1], size[0]) >> (16 - bits)
        data = values.astype(order + "u2").tobytes() if bits == 16 else b"".join(golden.packed(values, bits))
        yield f"gray-{bits}-{meaning}-{order}-{size}", golden.tiff([data], bits, 1, meaning, order, size=size, rows=size[1])
    for bits, order in itertools.product((1, 2, 4, 8), "<>"):
        values = numpy.frombuffer(random.randbytes(17 * 13), numpy.uint8).reshape(13, 17) >> (8 - bits)
        colors = {320: [random.randrange(65536) for _ in range(3 << bits)]}
        yield f"palette-{bits}-{order}", golden.tiff([b"".join(golden.packed(values, bits))], bits, 1, 3, order, more=colors)
    for samples, extra in ((1, 0), (2, 1), (2, 2), (3, 0), (4, 1), (4, 2), (4, 0), (5, 2)):
        for bits, order, planes, rows in itertools.product((8, 16), "<>", (1, 2), (13, 4)):
            deep = numpy.frombuffer(random.randbytes(2 * 17 * 13 * samples), "u2").reshape(13, 17, samples) >> (16 - bits)
            deep = deep.astype(order + "u2" if bits == 16 else "u1")
            parts = [deep] if planes == 1 else [deep[..., i] for i in range(samples)]
            strips = [part[y : y + rows].tobytes() for part in parts for y in range(0, 13, rows)]
            if samples - extra.bit_length() < 0 or planes == 2 and samples == 1:
                continue
            colors = 3 if samples >= 3 else 1
            more = {284: planes} | ({338: [extra] * (samples - colors)} if samples > colors else {})
            file = golden.tiff(strips, bits, samples, 2 if colors == 3 else 1, order, rows=rows, more=more)
            alpha = deep[..., colors:][..., :1]
            rgb = deep[..., :colors] * (alpha > 0) / numpy.maximum(alpha, 1) if extra == 1 else deep[..., :colors] / (2**bits - 1)
            rgb = numpy.broadcast_to((255 * numpy.minimum(rgb, 1)).astype(numpy.uint8), (13, 17, 3))
            yield f"samples-{samples}-{extra}-{bits}-{order}-{planes}-{rows}", file, rgb
    for side, samples, size in itertools.product((16, 32), (1, 3, 4), ((1, 1), (17, 13), (33, 31))):
        pixels = picture(random, *size, samples)
        more = {338: [2]} if samples == 4 else {}
        options = {"tile": (side, side), "size": size, "more": more}
        meaning = 1 if samples == 1 else 2
        yield f"tiles-{side}-{samples}-{size}", golden.tiff(golden.tiles(pixels, side), 8, samples, meaning, **options)
        packed = [zlib.compress(tile) for tile in golden.tiles(pixels, side)]
        yield f"tiles-packed-{side}-{samples}-{size}", golden.tiff(packed, 8, samples, meaning, compression=8, **options)
    for orientation, order in itertools.product(range(10), "<>"):
        pixels = picture(random, 7, 5).tobytes()
        yield f"turned-{orientation}{order}", golden.tiff([pixels], 8, 3, 2, order, more={274: orientation}, size=(7, 5), rows=5)
    inks = picture(random, 17, 13, 4)
    yield "cmyk-planes", golden.tiff([inks[..., i].tobytes() for i in range(4)], 8, 4, 5, more={284: 2})
    for sampling in ([1, 1], [2, 1], [2, 2]):
        count = 24 * 14 * 3
        yield f"ycbcr-{sampling}", golden.tiff([random.randbytes(count)], 8, 3, 6, more={530: sampling})
    yield "lab", golden.tiff([picture(random, 17, 13).tobytes()], 8, 3, 8)
    yield "reversed-bits", golden.tiff([picture(random, 17, 13).tobytes()], 8, 3, 2, more={266: 2})
    yield "behind", golden.tiff([picture(random, 17, 13).tobytes()], 8, 3, 2) + b"more"


# ---- WebP ------------------------------------------------------------------------------------------------------------------------

def riff(chunks):
    body = b"WEBP" + b"".join(name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2) for name, content in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def riff_chunks(file):
    chunks, at = [], 12
    while at + 8 <= len(file):
        length = struct.unpack("<I", file[at + 4 : at + 8])[0]
        chunks.append((file[at : at + 4], file[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2
    return chunks


def webp_files(random):
    for size, mode in itertools.product(SIZES, ("RGB", "RGBA", "L")):
        for quality in (1, 60, 100):
            yield f"lossy-{mode}-{quality}-{size}", saved(image(random, *size, mode), "WEBP", quality=quality, method=random.randint(0, 6))
        yield f"lossless-{mode}-{size}", saved(image(random, *size, mode), "WEBP", lossless=True, quality=random.choice([0, 100]))
        if mode == "RGBA":
            yield f"exact-{size}", saved(image(random, *size, mode), "WEBP", lossless=True, exact=True)
            yield f"alpha-{size}", saved(image(random, *size, mode), "WEBP", quality=50, alpha_quality=20)
    for colors in (1, 2, 3, 5, 16, 17, 200):
        few = image(random, 33, 31).quantize(colors, dither=Image.Dither.NONE).convert("RGB")
        yield f"colors-{colors}", saved(few, "WEBP", lossless=True)
    for orientation, order in itertools.product(range(10), "<>"):
        for head in (b"", b"Exif\0\0"):
            chunks = riff_chunks(saved(image(random, 7, 5), "WEBP", lossless=True, exif=exif(1)))
            chunks[-1] = (b"EXIF", head + exif(orientation, order))
            yield f"turned-{orientation}{order}-{len(head)}", riff(chunks)
    for lossless, mode in itertools.product((False, True), ("RGB", "RGBA")):
        pages = [image(random, 17, 13, mode) for _ in range(3)]
        yield f"frames-{lossless}-{mode}", saved(pages[0], "WEBP", save_all=True, append_images=pages[1:], lossless=lossless, duration=50)
    part = golden.Image.new("RGBA", (33, 31), (0, 0, 0, 0))
    part.paste(image(random, 9, 7), (6, 4))
    yield "frame-inside", saved(part, "WEBP", save_all=True, append_images=[image(random, 33, 31, "RGBA")], lossless=True,
                                background=(9, 200, 30, 255))
    plain = saved(image(random, 17, 13), "WEBP", quality=80)
    yield "behind", plain + b"more"
    yield "opencv", cv2.imencode(".webp", picture(random, 17, 13), [cv2.IMWRITE_WEBP_QUALITY, 80])[1].tobytes()
    yield "unknown-chunk", riff([*riff_chunks(saved(image(random, 17, 13, "RGBA"), "WEBP")), (b"ABCD", b"12345")])
    yield "two-pictures", riff(riff_chunks(plain) * 2)


# ---- PNM -------------------------------------------------------------------------------------------------------------------------

def pnm_files(random):
    for size, kind in itertools.product(SIZES, range(1, 7)):
        for white in (1,) if kind in (1, 4) else (1, 3, 100, 254, 255, 256, 1000, 65535):
            yield f"P{kind}-{white}-{size}", pnm(random, kind, size, white)
    heads = ("P{} # c\n{} {}\n{}\n", "P{}\n#\n#a\n{}\n#b\n{}#c\n{}\n", "P{}\t{}\r\n{} {} ", "P{}\n\n{}\x0b{}\x0c{}\n", "P{}#a\n{} {} {}\n",
             "P{} 00{} 0{} 0{}\n",
             "P{} {} {} {}#a\n", "P{} {}#a\n {} {}\n", "P{} +{} {} {}\n", "P{} -{} {} {}\n", "P{} {} {} 0{}0\n", "P{} {} {} {}000\n")
    for head, kind in itertools.product(heads, range(1, 7)):
        yield f"head-{head!r}-{kind}", pnm(random, kind, (7, 5), 255, head)
    for kind in range(1, 7):
        plain = pnm(random, kind, (7, 5), 255)
        yield f"behind-{kind}", plain + b"more"
        yield f"second-{kind}", plain + plain
        yield f"short-{kind}", plain[:-2]
    yield "text-comment", b"P2 3 2 9\n1 2 3 # a\n4 5 6"
    yield "text-comment-in-number", b"P2 3 2 9\n1 2 3#a\n 4 5 6"
    yield "text-too-large", b"P2 3 2 9\n1 2 3 10 5 6"
    yield "text-negative", b"P2 3 2 9\n1 2 3 -4 5 6"
    yield "text-letters", b"P2 3 2 9\n1 2 3 a 5 6"
    yield "bits-together", b"P1 3 2\n101010"
    yield "bits-comment", b"P1 3 2\n1 0 1 # 0\n 0 1 1"
    yield "binary-too-large", b"P5 3 2 9\n\1\2\3\x0a\xff\0"
    yield "white-0", b"P5 3 2 0\n\0\0\0\0\0\0"
    yield "white-65536", b"P5 3 2 65536\n" + bytes(12)
    yield "no-height", b"P5 3\n"
    for other in (b"P7\nWIDTH 3\nHEIGHT 2\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\n123456",
                  b"Pf\n2 1\n-1.0\n" + bytes(8), b"PF\n1 1\n-1.0\n" + bytes(12)):
        yield f"other-{other[:2]!r}", other
    for mode in ("1", "L", "RGB", "RGBA", "I;16", "I"):
        yield f"pillow-{mode}", saved(image(random, 17, 13, mode) if mode != "I" else Image.new("I", (17, 13), 40000), "PPM")
    for ending, shape in ((".pgm", (13, 17)), (".ppm", (13, 17, 3)), (".pbm", (13, 17))):
        for text in (0, 1):
            yield f"opencv{ending}-{text}", cv2.imencode(ending, picture(random, 17, 13).reshape(13, 17, 3) if len(shape) == 3 else
                                                         picture(random, 17, 13, 1)[..., 0], [cv2.IMWRITE_PXM_BINARY, text])[1].tobytes()


PLAIN_HEAD = "P{}\n{} {}\n{}\n"


def pnm(random, kind, size, white, head=PLAIN_HEAD):
    width, height = size
    count = width * height * (3 if kind % 3 == 0 else 1)
    start = head.format(kind, width, height, white)
    if kind in (1, 4):
        start = "{}".join(head.split("{}")[:4]).format(kind, width, height) + ("\n" if head == PLAIN_HEAD else head.split("{}")[4])
    values = [random.randint(0, white) for _ in range(count)]
    if kind <= 3:
        return start.encode() + random.choice([" ", "\n", " \t"]).join(map(str, values)).encode() + b"\n"
    if kind == 4:
        return start.encode() + random.randbytes((width + 7) // 8 * height)
    return start.encode() + numpy.array(values, ">u2" if white > 255 else "u1").tobytes()


FORMATS = {"JPEG": jpeg_files, "PNG": png_files, "GIF": gif_files, "BMP": bmp_files, "TIFF": tiff_files, "WebP": webp_files, "PNM": pnm_files}
