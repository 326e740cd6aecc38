"""The version of the records that are written here."""

VERSION = 1
