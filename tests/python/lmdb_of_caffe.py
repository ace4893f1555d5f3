"""Prints what py-lmdb finds in the database of the argument: keys, sizes and checksums of the values. Exit 77: the package is missing."""
import sys
import zlib

try:
    import lmdb
except ImportError as error:
    print(error)
    sys.exit(77)

with lmdb.open(sys.argv[1], readonly=True, lock=False) as database, database.begin() as transaction:
    for key, value in transaction.cursor():
        print(key.decode(), len(value), zlib.crc32(value))
