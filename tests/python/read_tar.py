"""Prints the names and contents of the files in the archive of the argument, as Python's tarfile reads them."""
import sys
import tarfile

with tarfile.open(sys.argv[1]) as archive:
    for member in archive:
        print(f"{member.name}={archive.extractfile(member).read().decode()}")
