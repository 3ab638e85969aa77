"""One pass over a text file by other software: prints SECONDS ROWS PROGRESSIVE_LOSS.

    learn_peers.py vw|vw-cache|sklearn|river FILE RIVER_ROWS CLASSES

vw is Vowpal Wabbit's own parser and learner, in this process; vw-cache reads a cache made
before the clock starts. scikit-learn loads the file and makes one pass of SGD, which has no
progressive loss (nan). river plays only the first RIVER_ROWS rows. With CLASSES, vw learns this number
of classes, each against the others, and the loss is the share of wrong predictions. It then has 2^24
weights, because its default of 2^18 is less than features times classes. All other settings are
defaults.
"""

import math
import sys
import time


def vw(path, cached, classes):
    import vowpalwabbit

    flags = ["--oaa", str(classes)] if classes else []
    flags += ["--loss_function", "logistic", "--no_stdin", "-b", "24" if classes else "18", "-d", path, "--quiet"]
    if cached:
        flags += ["--cache_file", f"{path}.cache"]
        vowpalwabbit.Workspace(arg_list=flags).finish()
    start = time.perf_counter()
    workspace = vowpalwabbit.Workspace(arg_list=flags)
    rows, loss = workspace.get_weighted_examples(), workspace.get_sum_loss()
    workspace.finish()
    return time.perf_counter() - start, rows, loss / rows


def sklearn(path):
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    start = time.perf_counter()
    rows, labels = load_svmlight_file(path)
    # River's own file reader makes indices that River's learner refuses
    rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
    SGDClassifier(loss="log_loss").partial_fit(rows, labels, classes=[-1, 1])
    return time.perf_counter() - start, len(labels), math.nan


def river(path, count):
    from river import linear_model

    model = linear_model.LogisticRegression()
    start = time.perf_counter()
    loss = rows = 0
    with open(path) as file:
        for line in file:
            label, *pairs = line.split()
            row = {name: float(value) for name, value in (pair.split(":") for pair in pairs)}
            positive = float(label) > 0
            chance = min(max(model.predict_proba_one(row).get(positive, 0.5), 1e-15), 1.0)
            loss -= math.log(chance)
            model.learn_one(row, positive)
            rows += 1
            if rows == count:
                break
    return time.perf_counter() - start, rows, loss / rows


def main():
    peer, path, count, classes = sys.argv[1:]
    if peer.startswith("vw"):
        result = vw(path, peer == "vw-cache", int(classes))
    elif peer == "sklearn":
        result = sklearn(path)
    else:
        result = river(path, int(count))
    print(*result)


main()
