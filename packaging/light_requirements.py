"""Print what an installed tracealyze needs for reports: its requirements without the packages for data."""

from importlib.metadata import requires

_DATA = ("numpy", "pandas", "pyarrow")

if __name__ == "__main__":
    needed = [each for each in requires("tracealyze") or () if "extra ==" not in each and not each.startswith(_DATA)]
    print(*needed, sep="\n")
