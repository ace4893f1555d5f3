#!/usr/bin/env python3
"""Makes images.json: small files of each image format and variant, with the pixels that Pillow reads from them. With --check: compares
the pixels of the file instead, as other versions of Pillow write other bytes. Exit 77: a package is missing.

A case has the `file` (base64), its `size`, and the `rgb` pixels (base64), or the name of a case with the `same_as` pixels. Those of 16
bits also have `deep`: 16 bits per channel, big endian, of 1 or 3 channels. `off_by`: how much lossy decoders may differ.

`numbers`: TIFFs whose pixels are numbers, with their `values` as float32 of little endian, of 1 or 3 `channels`. Pillow reads those of
gray, but for floats of 16 and 64 bits and unsigned integers of 32; it reads no colors of this kind.

`clips`: files of several frames, with the `rgb` pixels of each.

Files with transparency also have `rgba` pixels and, unless one color stands for what is transparent (KEYS), `onto` pixels: put onto the
color BACKGROUND. Clips have a list of each.
"""
import base64
import io
import json
import pathlib
import struct
import sys
import zlib

try:
    import numpy
    from PIL import Image, ImageOps
except ImportError as error:
    print(error)
    sys.exit(77)

PATH = pathlib.Path(__file__).resolve().parent / "images.json"
WIDTH, HEIGHT = 17, 13
BACKGROUND = (250, 128, 3)
# One color of these is transparent, and no other pixel has that color, so it stays as it is.
KEYS = ("png_palette_alpha", "png_key", "png_gray_key", "gif_alpha", "gif_transparent_first", "gif_small_first")
# Decoders may round differently.
LOSSY = 1


def picture():
    """Smooth colors with an edge."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    pixels = numpy.stack([15 * x, 20 * y, 250 - 8 * x - 9 * y], axis=-1).astype(numpy.uint8)
    pixels[4:9, 5:12] = (255, 40, 0)
    return Image.fromarray(pixels)


def deep(channels):
    """Pixels of 16 bits of which the lower ones matter."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [(x * 3855 + y * (c + 7) * 11 + c * 5000) % 65536 for c in range(channels)]
    return numpy.stack(planes, axis=-1).astype(numpy.uint16)


RGB = picture()
GRAY = RGB.convert("L")
BITS = GRAY.point(lambda v: 255 * (v > 90)).convert("1", dither=Image.Dither.NONE)
PALETTE = RGB.quantize(16, dither=Image.Dither.NONE)
ALPHA = RGB.copy()
ALPHA.putalpha(Image.fromarray(numpy.full((HEIGHT, WIDTH), 128, numpy.uint8)))
CMYK = Image.merge("CMYK", [*RGB.convert("CMYK").split()[:3], GRAY.point(lambda v: 128 - v // 2)])


def saved(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def few_colors(count):
    """A palette image, and its indices."""
    image = RGB.quantize(count, dither=Image.Dither.NONE)
    return image, numpy.asarray(image)


def packed(values, bits):
    """Rows of numbers of some bits; each row begins with a new byte."""
    rows = []
    for row in values.reshape(values.shape[0], -1):
        digits = "".join(format(int(v), f"0{bits}b") for v in row)
        digits += "0" * (-len(digits) % 8)
        rows.append(bytes(int(digits[i : i + 8], 2) for i in range(0, len(digits), 8)))
    return rows


def tiff(blocks, bits, samples, meaning, order="<", more=None, size=(WIDTH, HEIGHT), tile=None, rows=HEIGHT, compression=1):
    """An uncompressed (or deflated) TIFF of strips or tiles."""
    tags = {256: size[0], 257: size[1], 258: [bits] * samples, 259: compression, 262: meaning, 277: samples, **(more or {})}
    offsets, lengths = (324, 325) if tile else (273, 279)
    if tile:
        tags.update({322: tile[0], 323: tile[1]})
    else:
        tags[278] = rows
    body = b""
    places = []
    for block in blocks:
        places.append(8 + len(body))
        body += block + b"\0" * (len(block) % 2)
    tags[offsets], tags[lengths] = places, [len(block) for block in blocks]
    directory, tail = b"", b""
    at = 8 + len(body)
    behind = at + 2 + 12 * len(tags) + 4
    for tag, value in sorted(tags.items()):
        values = value if isinstance(value, list) else [value]
        kind, letter = (4, "I") if tag in (offsets, lengths) else (3, "H")
        data = struct.pack(order + letter * len(values), *values)
        if len(data) > 4:
            data, tail = struct.pack(order + "I", behind + len(tail)), tail + data + b"\0" * (len(data) % 2)
        directory += struct.pack(order + "HHI", tag, kind, len(values)) + data.ljust(4, b"\0")
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", at)
    return head + body + struct.pack(order + "H", len(tags)) + directory + b"\0" * 4 + tail


def tiles(pixels, side):
    """Tiles of side x side pixels, filled up with zeros."""
    height, width, channels = pixels.shape
    full = numpy.zeros((-(-height // side) * side, -(-width // side) * side, channels), pixels.dtype)
    full[:height, :width] = pixels
    return [full[y : y + side, x : x + side].tobytes() for y in range(0, full.shape[0], side) for x in range(0, full.shape[1], side)]


def bmp(rows, bits, header=40, height=HEIGHT, compression=0, colors=b"", behind=b"", width=WIDTH):
    """`rows`: from the first that is stored, without the bytes that fill them; or the compressed pixels."""
    pixels = rows if isinstance(rows, bytes) else b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    at = 14 + header + len(behind) + len(colors)
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(pixels), 2835, 2835, 0, 0)
    return struct.pack("<2sIHHI", b"BM", at + len(pixels), 0, 0, at) + info + behind + colors + pixels


def colors_of(image, count, entry=4):
    values = (image.getpalette() + [0] * 768)[: 3 * count]
    return b"".join(bytes(values[i : i + 3][::-1]) + b"\0" * (entry - 3) for i in range(0, len(values), 3))


def rle8(indices):
    """Runs, copied bytes and a skipped part."""
    out = b""
    for y, row in enumerate(indices[::-1]):
        if y == 3:
            out += bytes([0, 2, 2, 0])
            row = row[2:]
        if y % 2:
            out += bytes([0, len(row)]) + row.tobytes() + b"\0" * (len(row) % 2)
        else:
            x = 0
            while x < len(row):
                run = 1
                while x + run < len(row) and row[x + run] == row[x]:
                    run += 1
                out += bytes([run, row[x]])
                x += run
        out += b"\0\0"
    return out[:-2] + b"\0\1"


def rle4(indices):
    out = b""
    for row in indices[::-1]:
        pairs = b"".join(bytes([int(a) << 4 | int(b)]) for a, b in zip(row[::2], [*row[1::2], 0]))
        out += bytes([0, len(row)]) + pairs + b"\0" * (len(pairs) % 2) + b"\0\0"
    return out[:-2] + b"\0\1"


def words(values, bits):
    """Pixels of masks: 5 or 6 bits per channel in 16, or 8 of 32."""
    pixels = values.astype(numpy.uint32)
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    if bits == (5, 5, 5):
        return ((red >> 3) << 10 | (green >> 3) << 5 | blue >> 3).astype("<u2")
    if bits == (5, 6, 5):
        return ((red >> 3) << 11 | (green >> 2) << 5 | blue >> 3).astype("<u2")
    return (red << 24 | green << 16 | blue << 8).astype("<u4")


def rows_of(array):
    return [row.tobytes() for row in array]


def webp_animation():
    other = Image.new("RGB", (WIDTH, HEIGHT), (9, 9, 9))
    return saved(RGB, "WEBP", lossless=True, save_all=True, append_images=[other], duration=100)


def gif_on_larger_canvas():
    file = bytearray(saved(PALETTE, "GIF", interlace=0))
    struct.pack_into("<HH", file, 6, WIDTH + 4, HEIGHT + 3)
    frame = file.index(b"," + struct.pack("<HHHH", 0, 0, WIDTH, HEIGHT))
    struct.pack_into("<HH", file, frame + 1, 2, 1)
    return bytes(file)


def ycck():
    file = bytearray(saved(CMYK, "JPEG", quality=90))
    file[file.index(b"Adobe") + 11] = 2  # the transform
    return bytes(file)


def icon():
    """Black everywhere; the picture is in the alpha channel."""
    image = Image.new("RGBA", (WIDTH, HEIGHT))
    image.putalpha(GRAY)
    return image


def two_of_a_color():
    """A palette whose entry 3, which will be transparent, has the color of entry 5."""
    image = PALETTE.copy()
    colors = image.getpalette()
    colors[9:12] = colors[15:18]
    image.putpalette(colors)
    return image


def turned_left():
    exif = Image.Exif()
    exif[274] = 8
    return exif


def files():
    """Name, file, how much lossy decoders may differ, pixels of 16 bits; the last two may be left out."""
    rgb, gray = numpy.asarray(RGB), numpy.asarray(GRAY)
    bits = numpy.asarray(BITS).astype(numpy.uint8)
    sixteen, indices16 = few_colors(16)
    four, indices4 = few_colors(4)
    two, indices2 = few_colors(2)
    many, indices256 = few_colors(256)
    yield "jpeg_rgb", saved(RGB, "JPEG", quality=90), LOSSY
    yield "jpeg_gray", saved(GRAY, "JPEG", quality=90), LOSSY
    yield "jpeg_progressive", saved(RGB, "JPEG", quality=90, progressive=True), LOSSY
    yield "jpeg_cmyk", saved(CMYK, "JPEG", quality=90), LOSSY
    yield "jpeg_ycck", ycck(), LOSSY
    yield "png_rgb", saved(RGB, "PNG")
    yield "png_rgba", saved(ALPHA, "PNG")
    yield "png_gray_alpha", saved(ALPHA.convert("LA"), "PNG")
    yield "png_1_bit", saved(BITS, "PNG")
    for count in (2, 4, 16, 256):
        yield f"png_palette_{count}", saved(few_colors(count)[0], "PNG")
    yield "png_palette_alpha", saved(PALETTE, "PNG", transparency=3)
    yield "png_icon", saved(icon(), "PNG")
    yield "png_gray_icon", saved(icon().convert("LA"), "PNG")
    yield "png_palette_two_keys", saved(PALETTE, "PNG", transparency=bytes([255, 0, 255, 0]))
    yield "png_palette_partly", saved(PALETTE, "PNG", transparency=bytes([255, 90, 255, 0]))
    yield "png_palette_key_of_opaque", saved(two_of_a_color(), "PNG", transparency=3)
    yield "png_key", saved(RGB, "PNG", transparency=(255, 40, 0))
    yield "png_gray_key", saved(GRAY, "PNG", transparency=int(numpy.asarray(GRAY)[6, 8]))
    yield "png_gray_16", saved(Image.fromarray(deep(1)[..., 0]), "PNG"), 0, deep(1)
    yield "gif_plain", saved(PALETTE, "GIF", interlace=0)
    yield "gif_interlaced", saved(PALETTE, "GIF", interlace=1)
    yield "gif_gray", saved(GRAY, "GIF")
    yield "gif_alpha", saved(PALETTE, "GIF", transparency=3)
    yield "gif_key_of_opaque", gif([((numpy.mgrid[0:HEIGHT, 0:WIDTH].sum(axis=0)) % 8, (0, 0), 0, 3, TWICE)])
    yield "gif_frames", saved(PALETTE, "GIF", save_all=True, append_images=[two], duration=100)
    yield "gif_canvas", gif_on_larger_canvas()
    yield "bmp_rgb", saved(RGB, "BMP")
    yield "bmp_rgba", saved(ALPHA, "BMP")
    yield "bmp_gray", saved(GRAY.resize((5, 4)), "BMP")
    yield "bmp_1_bit", saved(BITS, "BMP")
    yield "bmp_top_down", bmp(rows_of(rgb[..., ::-1]), 24, height=-HEIGHT)
    yield "bmp_palette_1", bmp(packed(indices2, 1)[::-1], 1, colors=colors_of(two, 2))
    yield "bmp_palette_4", bmp(packed(indices16, 4)[::-1], 4, colors=colors_of(sixteen, 16))
    yield "bmp_os2", bmp(packed(indices16, 4)[::-1], 4, header=12, colors=colors_of(sixteen, 16, 3))
    yield "bmp_rle8", bmp(rle8(indices256), 8, compression=1, colors=colors_of(many, 256))
    yield "bmp_rle4", bmp(rle4(indices16), 4, compression=2, colors=colors_of(sixteen, 16))
    yield "bmp_555", bmp(rows_of(words(rgb, (5, 5, 5)))[::-1], 16)
    yield "bmp_565", bmp(rows_of(words(rgb, (5, 6, 5)))[::-1], 16, compression=3, behind=struct.pack("<III", 0xF800, 0x7E0, 0x1F))
    yield "bmp_32_masks", bmp(rows_of(words(rgb, 32))[::-1], 32, compression=3,
                              behind=struct.pack("<III", 0xFF000000, 0xFF0000, 0xFF00))
    yield "tiff_rgb", saved(RGB, "TIFF")
    for name in ("tiff_lzw", "packbits", "tiff_adobe_deflate"):
        yield f"tiff_{name.removeprefix('tiff_')}", saved(RGB, "TIFF", compression=name)
    yield "tiff_predictor", saved(RGB, "TIFF", compression="tiff_lzw", tiffinfo={317: 2})
    yield "tiff_jpeg", saved(RGB, "TIFF", compression="jpeg", quality=90), LOSSY
    yield "tiff_gray", saved(GRAY, "TIFF", compression="tiff_lzw")
    yield "tiff_1_bit", saved(BITS, "TIFF")
    yield "tiff_group4", saved(BITS, "TIFF", compression="group4")
    yield "tiff_palette", saved(PALETTE, "TIFF", compression="packbits")
    yield "tiff_rgba", saved(ALPHA, "TIFF", compression="tiff_lzw")
    yield "tiff_gray_alpha", saved(ALPHA.convert("LA"), "TIFF", compression="tiff_lzw")
    yield "tiff_cmyk", saved(CMYK, "TIFF", compression="tiff_lzw")
    yield "tiff_ycbcr", tiff([numpy.asarray(RGB.convert("YCbCr")).tobytes()], 8, 3, 6, more={530: [1, 1]}, compression=1), LOSSY
    yield "tiff_pages", saved(GRAY, "TIFF", save_all=True, append_images=[BITS])
    yield "tiff_gray_16", tiff([deep(1).astype("<u2").tobytes()], 16, 1, 1), 0, deep(1)
    big = deep(3).astype(">u2")
    yield "tiff_rgb_16", tiff([zlib.compress(big[:8].tobytes()), zlib.compress(big[8:].tobytes())], 16, 3, 2, ">", rows=8,
                              compression=8), 0, deep(3)
    yield "tiff_planes", tiff([rgb[y : y + 5, :, c].tobytes() for c in range(3) for y in range(0, HEIGHT, 5)], 8, 3, 2,
                              more={284: 2}, rows=5)
    yield "tiff_tiles", tiff(tiles(rgb, 16), 8, 3, 2, tile=(16, 16))
    yield "tiff_2_bits", tiff([b"".join(packed(gray // 64, 2))], 2, 1, 1)
    yield "tiff_4_bits_white_is_0", tiff([b"".join(packed(15 - gray // 16, 4))], 4, 1, 0)
    alpha = (gray.astype(int) // 2 + 120)[..., None]
    multiplied = numpy.concatenate([rgb * alpha // 255, alpha], axis=-1).astype(numpy.uint8)
    yield "tiff_multiplied", tiff([multiplied.tobytes()], 8, 4, 2, more={338: 1})
    yield "tiff_gray_icon", tiff([numpy.stack([0 * gray, gray], axis=-1).tobytes()], 8, 2, 1, more={338: 2})
    yield "tiff_icon_planes", tiff([*[(0 * gray).tobytes()] * 3, gray.tobytes()], 8, 4, 2, more={284: 2, 338: 2})
    yield "tiff_turned", tiff([rgb.tobytes()], 8, 3, 2, more={274: 6})
    yield "webp_lossy", saved(RGB, "WEBP", quality=90), LOSSY
    yield "webp_lossless", saved(RGB, "WEBP", lossless=True)
    yield "webp_lossy_alpha", saved(ALPHA, "WEBP", quality=90), LOSSY
    yield "webp_lossless_alpha", saved(ALPHA, "WEBP", lossless=True, exact=True)
    yield "webp_icon", saved(icon(), "WEBP", lossless=True, exact=True)
    yield "webp_animation", webp_animation()
    yield "webp_turned", saved(RGB, "WEBP", lossless=True, exif=turned_left())
    numbers = " ".join(map(str, gray.reshape(-1)))
    yield "pnm_plain_bits", b"P1 # text\n17 13\n" + b"\n".join("".join(map(str, 1 - row)).encode() for row in bits) + b"\n"
    yield "pnm_plain_gray", f"P2\n# text\n17 13 # more\n255\n{numbers}".encode()
    yield "pnm_plain_rgb", ("P3 17 13 255\n" + "\n".join(map(str, rgb.reshape(-1)))).encode()
    yield "pnm_bits", saved(BITS, "PPM")
    yield "pnm_gray", saved(GRAY, "PPM")
    yield "pnm_rgb", saved(RGB, "PPM")
    yield "pnm_rgb_of_6", b"P6\n17 13\n6\n" + (rgb // 40).tobytes()
    yield "pnm_gray_16", b"P5\n17 13\n65535\n" + deep(1).astype(">u2").tobytes(), 0, deep(1)
    yield "pnm_rgb_16", b"P6 17 13 65535\n" + deep(3).astype(">u2").tobytes(), 0, deep(3)


def number_files():
    """Name, file, values."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    gray = (numpy.float32(-1.5) + x * numpy.float32(0.37) - y * numpy.float32(1e-3)).astype(numpy.float32)
    gray[3, 4], gray[5, 6] = 3.4e38, -1e-40
    colors = numpy.stack([gray[::-1], 1000 * x + y, y - x * 1e-5], axis=-1).astype(numpy.float32)
    whole = (x * 4001 - y * 2003 - 30000).astype(numpy.int16)
    floats = {339: 3}
    yield "float_32", tiff([gray.astype("<f4").tobytes()], 32, 1, 1, more=floats), gray
    yield "float_32_strips", tiff([gray[y : y + 5].astype(">f4").tobytes() for y in range(0, HEIGHT, 5)], 32, 1, 1, ">", rows=5, more=floats), gray
    yield "float_32_predictor", saved(Image.fromarray(gray), "TIFF", compression="tiff_adobe_deflate", tiffinfo={317: 3}), gray
    yield "float_32_lzw", saved(Image.fromarray(gray), "TIFF", compression="tiff_lzw"), gray
    yield "float_64", tiff([whole.astype("<f8").tobytes()], 64, 1, 1, more=floats), whole.astype(numpy.float32)
    small = (whole / 1024).astype(numpy.float16)
    yield "float_16", tiff([small.astype(">f2").tobytes()], 16, 1, 1, ">", more=floats), small.astype(numpy.float32)
    yield "float_32_rgb", tiff([colors.astype("<f4").tobytes()], 32, 3, 2, more={339: [3, 3, 3]}), colors
    yield "float_32_rgb_tiles", tiff(tiles(colors.astype("<f4"), 16), 32, 3, 2, tile=(16, 16), more={339: [3, 3, 3]}), colors
    planes = [colors[..., c].astype("<f4").tobytes() for c in range(3)]
    yield "float_32_planes", tiff(planes, 32, 3, 2, more={284: 2, 339: [3, 3, 3]}), colors
    yield "signed_16", tiff([whole.astype("<i2").tobytes()], 16, 1, 1, more={339: 2}), whole.astype(numpy.float32)
    wide = (x * 100003 - y * 70001).astype(numpy.int32)  # below 2^24, so that float32 has them
    yield "signed_32", tiff([wide.astype("<i4").tobytes()], 32, 1, 1, more={339: 2}), wide.astype(numpy.float32)
    labels = (x + 1000 * y).astype(numpy.uint32)
    yield "unsigned_32", tiff([labels.astype(">u4").tobytes()], 32, 1, 1, ">", more={339: 1}), labels.astype(numpy.float32)
    signed = (x * 9 - y * 7).astype(numpy.int8)
    yield "signed_8", tiff([signed.tobytes()], 8, 1, 1, more={339: 2}), signed.astype(numpy.float32)


def pillow_reads(name):
    """Pillow takes signed pixels of 8 bits and unsigned ones of 32 as the other kind, and reads some kinds not at all."""
    return not any(part in name for part in ("rgb", "planes", "float_16", "float_64", "signed_8", "unsigned_32"))


def numbers():
    for name, file, values in number_files():
        if pillow_reads(name):
            values = read_numbers(file)
        channels = values.shape[2] if values.ndim == 3 else 1
        yield {"name": name, "file": text(file), "size": [WIDTH, HEIGHT], "channels": channels, "values": text(values.astype("<f4").tobytes())}


def read_numbers(file):
    return numpy.asarray(Image.open(io.BytesIO(file))).astype(numpy.float32)


# Of 8 colors of a GIF, 3 is that of 5.
TWICE = bytes(range(100, 124))[:9] + bytes(range(100, 124))[15:18] + bytes(range(100, 124))[12:]


def blocks(color, step):
    """Frames whose changes need each way to dispose of a frame."""
    image = RGB.quantize(8, dither=Image.Dither.NONE).convert("RGB")
    image.paste(color, (2 + step, 1 + step, 9 + step, 6 + step))
    return image


def gif(frames, size=(WIDTH, HEIGHT), background=2):
    """`frames`: pixels, place, disposal, transparent index (or None), own colors (or not) of each; indices of up to 8 colors."""
    palette = bytes(range(10, 10 + 24))
    out = b"GIF89a" + struct.pack("<HHBBB", *size, 0x80 | 2, background, 0) + palette
    for pixels, place, disposal, transparent, colors in frames:
        height, width = pixels.shape
        out += b"!\xf9\x04" + struct.pack("<BHB", disposal << 2 | (transparent is not None), 10, transparent or 0) + b"\0"
        out += b"," + struct.pack("<HHHHB", *place, width, height, 0x82 if colors else 0) + (colors or b"")
        bits = "".join(format(code, "04b")[::-1] for value in pixels.reshape(-1) for code in (8, int(value))) + "1001"
        bits += "0" * (-len(bits) % 8)
        data = bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))
        out += b"\3" + b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255] for i in range(0, len(data), 255)) + b"\0"
    return out + b";"


def disposals(first):
    """Squares over each other; frame k + 1 shows what frame k leaves. `first`: how the first frame is disposed of."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    other = bytes(range(255, 255 - 24, -1))
    square = (x[:6, :7] + 2 * y[:6, :7]) % 8
    whole = (x + y) % 8
    frames = [(whole, (0, 0), first, None, None), (square, (1, 1), 1, 3, None), (square, (4, 3), 2, None, other), (square, (8, 2), 3, 5, None)]
    frames += [(square, (9, 6), 2, 1, other), (square, (2, 6), 0, 0, None), (square[:3, :3], (7, 7), 1, None, None)]
    return frames


def clip_files():
    frames = [blocks((255, 0, 0), 0), blocks((0, 255, 0), 2), blocks((0, 0, 255), 5)]
    yield "gif_pillow", saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100, disposal=2)
    for disposal in (0, 1, 2, 3):
        yield f"gif_disposal_{disposal}", gif(disposals(disposal))
    hole = disposals(3)
    hole[0] = (hole[0][0], (0, 0), 3, 4, None)
    yield "gif_transparent_first", gif(hole)
    twice = [(pixels, place, disposal, 3, TWICE) for pixels, place, disposal, _, _ in disposals(2)]
    yield "gif_keys_of_opaque", gif(twice)
    yield "gif_small_first", gif([disposals(1)[1], *disposals(1)[2:]])
    yield "tiff_pages", saved(frames[0], "TIFF", save_all=True, append_images=frames[1:], compression="tiff_lzw")
    kinds = [GRAY, RGB, BITS, PALETTE]
    yield "tiff_pages_of_kinds", saved(kinds[0], "TIFF", save_all=True, append_images=kinds[1:])
    yield "webp_lossless_frames", saved(frames[0], "WEBP", lossless=True, save_all=True, append_images=frames[1:], duration=100)
    clear = [frame.convert("RGBA") for frame in frames]
    for frame in clear:
        frame.putalpha(GRAY.point(lambda v: 255 * (v > 100)))
    yield "webp_alpha_frames", saved(clear[0], "WEBP", lossless=True, exact=True, save_all=True, append_images=clear[1:], duration=100)


def frames_of(file):
    return numpy.stack([numpy.asarray(frame.convert("RGB")) for frame in opened_frames(file)])


def opened_frames(file):
    image = Image.open(io.BytesIO(file))
    for i in range(image.n_frames):
        image.seek(i)
        yield image


def transparent_pixels(name, image):
    """`rgba` and `onto`, as the file says; empty without transparency."""
    if not image.has_transparency_data:
        return {}
    rgba = image.convert("RGBA")
    pixels = {"rgba": numpy.asarray(rgba)}
    if name not in KEYS:
        onto = Image.new("RGB", rgba.size, BACKGROUND)
        onto.paste(rgba, mask=rgba.getchannel("A"))
        pixels["onto"] = numpy.asarray(onto)
    return pixels


def transparent_clip(name, file):
    """As transparent_pixels, of all frames; empty if one has no transparency."""
    all_pixels = [transparent_pixels(name, frame) for frame in opened_frames(file)]
    if not all(all_pixels):
        return {}
    return {kind: numpy.stack([pixels[kind] for pixels in all_pixels]) for kind in all_pixels[0]}


def transparent_file(name, file):
    return transparent_pixels(name, ImageOps.exif_transpose(Image.open(io.BytesIO(file))))


def clips():
    for name, file in clip_files():
        frames = frames_of(file)
        case = {"name": name, "file": text(file), "size": [frames.shape[2], frames.shape[1]], "frames": [text(frame.tobytes()) for frame in frames]}
        yield case | {kind: [text(frame.tobytes()) for frame in pixels] for kind, pixels in transparent_clip(name, file).items()}


def complete_files():
    for name, file, *more in files():
        yield name, file, *more, *[0, None][len(more) :]


def rgb_of(name, file, exact):
    """What Pillow reads; of 16 bits of gray it keeps the lower ones, so these are computed."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(file)))
    if exact is not None and exact.shape[2] == 1:
        upper = numpy.rint(exact / 257) if name.startswith("pnm") else exact // 256
        return numpy.repeat(upper.astype(numpy.uint8), 3, axis=2)
    return numpy.asarray(image.convert("RGB"))


def text(data):
    return base64.b64encode(data).decode()


def cases():
    known = {}
    for name, file, off_by, exact in complete_files():
        pixels = rgb_of(name, file, exact)
        case = {"name": name, "file": text(file), "size": [pixels.shape[1], pixels.shape[0]]}
        first = known.setdefault(pixels.tobytes() + repr(pixels.shape).encode(), name)
        case |= {"rgb": text(pixels.tobytes())} if first == name else {"same_as": first}
        if off_by:
            case["off_by"] = off_by
        if exact is not None:
            case |= {"deep_channels": exact.shape[2], "deep": text(exact.astype(">u2").tobytes())}
        yield case | {kind: text(pixels.tobytes()) for kind, pixels in transparent_file(name, file).items()}


def other_transparency(case, read):
    for kind in ("rgba", "onto"):
        if (kind in case) != (kind in read):
            yield f"{case['name']}: '{kind}' is in one of both only"
        elif kind in case:
            parts = case[kind] if isinstance(case[kind], list) else [case[kind]]
            stored = numpy.frombuffer(b"".join(map(base64.b64decode, parts)), numpy.uint8)
            if numpy.abs(read[kind].reshape(-1).astype(int) - stored).max() > case.get("off_by", 0):
                yield f"{case['name']}: Pillow reads other '{kind}' pixels"


def differences(committed):
    """Whether Pillow reads the committed files as they were read."""
    pixels_of = {case["name"]: base64.b64decode(case["rgb"]) for case in committed["cases"] if "rgb" in case}
    exact_of = {name: exact for name, _, _, exact in complete_files()}
    names = list(exact_of)
    if names != [case["name"] for case in committed["cases"]]:
        yield f"the script makes the cases {names}"
    for case in committed["cases"]:
        name = case["name"]
        read = rgb_of(name, base64.b64decode(case["file"]), exact_of[name])
        stored = numpy.frombuffer(pixels_of[case.get("same_as", name)], numpy.uint8).reshape(read.shape)
        if numpy.abs(read.astype(int) - stored).max() > case.get("off_by", 0):
            yield f"{name}: Pillow reads other pixels"
        yield from other_transparency(case, transparent_file(name, base64.b64decode(case["file"])))
    if [name for name, _ in clip_files()] != [case["name"] for case in committed["clips"]]:
        yield "the script makes other clips"
    for case in committed["clips"]:
        frames = b"".join(base64.b64decode(frame) for frame in case["frames"])
        if frames_of(base64.b64decode(case["file"])).tobytes() != frames:
            yield f"{case['name']}: Pillow reads other frames"
        yield from other_transparency(case, transparent_clip(case["name"], base64.b64decode(case["file"])))
    expected = {name: values for name, _, values in number_files()}
    if list(expected) != [case["name"] for case in committed["numbers"]]:
        yield f"the script makes the numbers {list(expected)}"
    for case in committed["numbers"]:
        name = case["name"]
        read = read_numbers(base64.b64decode(case["file"])) if pillow_reads(name) else expected[name]
        if read.astype("<f4").tobytes() != base64.b64decode(case["values"]):
            yield f"{name}: other numbers"


def main():
    if sys.argv[1:] == ["--check"]:
        found = list(differences(json.loads(PATH.read_text())))
        print("\n".join(found) if found else f"{PATH.name}: is what the script makes")
        sys.exit(1 if found else 0)
    background = f'"background": {list(BACKGROUND)}'
    lists = {"cases": cases(), "numbers": numbers(), "clips": clips()}
    made_with = f"Pillow {Image.__version__}"
    texts = [f' "{name}": [\n' + ",\n".join("  " + json.dumps(case) for case in one) + "\n ]" for name, one in lists.items()]
    PATH.write_text(f'{{\n "made_with": "{made_with}",\n {background},\n' + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    main()
