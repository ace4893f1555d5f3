"""Writes archives in each format of Python's tarfile into the folder of the argument."""
import io
import pathlib
import sys
import tarfile

folder = pathlib.Path(sys.argv[1])


def write(name, form, files):
    with tarfile.open(folder / name, "w", format=form) as archive:
        directory = tarfile.TarInfo("folder")
        directory.type = tarfile.DIRTYPE
        archive.addfile(directory)
        for path, content in files:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("folder/link")
        link.type = tarfile.SYMTYPE
        link.linkname = "a.txt"
        archive.addfile(link)


long_files = [("folder/a.txt", b"first"), ("folder/" + "n" * 140 + ".txt", b"second"), ("folder/ä.txt", b"third")]
write("gnu.tar", tarfile.GNU_FORMAT, long_files)
write("pax.tar", tarfile.PAX_FORMAT, long_files)
write("ustar.tar", tarfile.USTAR_FORMAT, [("folder/a.txt", b"first"), ("d" * 120 + "/b.txt", b"second")])
