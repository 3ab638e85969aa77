"""Data frames: the estimators and the models read them as `extremal learn` reads the same table."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

import extremal as ex  # noqa: E402
from extremal import OnlineClassifier, OnlineRegressor  # noqa: E402
from test_models import needs_program, run  # noqa: E402


def table(rows=700, seed=3):
    """A table with every kind of column, and with missing values in all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.normal(40, 12, rows).round(3),
        "rooms": rng.integers(1, 6, rows),
        "city": rng.choice(["Bath", "Rome", "Oslo, N", 'the "old" town', " Ulm "], rows),
        "zip": rng.choice([10115, 20095, 80331], rows),
        "shop": pd.Categorical(rng.choice(["a", "b"], rows)),
        "sale": rng.random(rows) < 0.3,
        "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 500, rows), unit="D"),
        "time": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 10**7, rows), unit="s"),
    })
    y = frame["age"] / 10 + (frame["city"] == "Rome") + frame["rooms"] + rng.normal(0, 0.1, rows)
    for name in ("age", "city", "shop", "day"):
        frame.loc[rng.random(rows) < 0.1, name] = None
    frame.loc[rows - 5:, "city"] = "only at the end"
    y[rng.random(rows) < 0.1] = np.nan
    return frame, y


@needs_program
def test_estimators_and_models_predict_as_learn_and_predict_do(tmp_path):
    """To the bit: a frame and the same table as CSV, for the estimator and for the program's model."""
    frame, y = table()
    y = y.fillna(40.0)
    path, model = tmp_path / "table.csv", tmp_path / "model"
    frame.assign(price=y).to_csv(path, index=False)
    run("learn", path, "--label", "price", "--categorical", "zip", "-f", model, "-q")
    program = np.array(run("predict", "-i", model, path).split(), dtype=float)
    estimator = OnlineRegressor(passes=1, shuffle=False, categorical=["zip"]).fit(frame, y)
    np.testing.assert_array_equal(estimator.predict(frame), program)
    loaded = ex.load(model)
    np.testing.assert_array_equal(loaded.predict(frame), program)
    np.testing.assert_array_equal(loaded.predict(frame.assign(price=y)[frame.columns[::-1]]), program)
    assert np.isfinite(loaded.predict(frame.assign(city="unknown"))).all()

    labels = pd.Series(np.where(y > y.median(), "yes", "no"))
    frame.assign(sold=labels).to_csv(path, index=False)
    run("learn", path, "--label", "sold", "--labels", "no,yes", "-f", model, "-q")
    program = np.array(run("predict", "-i", model, path, "--link", "identity").split(), dtype=float)
    estimator = OnlineClassifier(passes=1, shuffle=False).fit(frame, labels)
    np.testing.assert_array_equal(estimator.decision_function(frame), program)
    np.testing.assert_array_equal(ex.load(model).predict(frame), program)


def test_features_are_those_of_the_same_table_as_csv():
    frame, y = table()
    model = OnlineRegressor(passes=1, shuffle=False, categorical=["zip"]).fit(frame, y)
    names = model.get_feature_names_out().tolist()
    assert names[:4] == ["age", "rooms", "day:trend", "time:trend"]
    for name in ("city=Rome", "city=Oslo, N", "city=Ulm", "zip=10115", "shop=b", "sale=True", "day:month=3",
                 "time:hour=0", "age (missing)", "city (missing)", "city=only at the end"):
        assert name in names, name
    assert not any(name.startswith("day:hour") for name in names)
    assert model.coef_.shape == (len(names),)
    assert model.feature_names_in_.tolist() == frame.columns.tolist() and model.n_features_in_ == 8


def test_one_row_at_a_time_is_the_same_and_new_texts_grow_the_model():
    frame, y = table()
    whole = OnlineRegressor(categorical=["zip"]).partial_fit(frame, y)
    parts = OnlineRegressor(categorical=["zip"]).partial_fit(frame[:600], y[:600])
    width = len(parts.coef_)
    assert np.isfinite(parts.predict(frame)).all()  # unknown texts are left out
    for k in range(600, 700):
        parts.partial_fit(frame[k:k + 1], y[k:k + 1])
    assert len(parts.coef_) > width
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    np.testing.assert_array_equal(parts.predict(frame), whole.predict(frame))

    before = parts.predict(frame), parts.get_feature_names_out().tolist()
    bad = frame[:2].assign(city="new")
    with pytest.raises(ValueError):
        parts.partial_fit(bad, [1.0, np.inf])
    assert parts.get_feature_names_out().tolist() == before[1]
    np.testing.assert_array_equal(parts.predict(frame), before[0])


def test_numbers_alone_are_the_same_as_a_matrix():
    frame, y = table()
    numbers = frame[["rooms", "zip"]].astype(float)
    y = y.fillna(0.0)
    framed = OnlineRegressor(random_state=0).fit(numbers, y)
    plain = OnlineRegressor(random_state=0).fit(numbers.to_numpy(), y)
    np.testing.assert_array_equal(framed.predict(numbers), plain.predict(numbers.to_numpy()))
    framed.partial_fit(numbers.assign(zip=np.nan), y)
    assert framed.get_feature_names_out().tolist() == ["rooms", "zip", "zip (missing)"]


def test_classes_and_copies():
    import copy
    import pickle

    frame, y = table()
    labels = pd.Series(np.where(y > y.median(), "high", "low")).astype(object)
    labels[y.isna()] = None
    model = OnlineClassifier(dates=["day"]).fit(frame, labels)
    assert model.classes_.tolist() == ["high", "low"]
    known = labels.notna()
    assert (model.predict(frame)[known] == labels[known]).mean() > 0.8
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(frame), model.predict_proba(frame))


def test_polars():
    polars = pytest.importorskip("polars")
    frame, y = table()
    frame = frame.drop(columns="shop")
    columns = {name: [None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame.columns}
    model = OnlineRegressor(passes=1, shuffle=False).fit(frame, y)
    other = OnlineRegressor(passes=1, shuffle=False).fit(polars.DataFrame(columns), y)
    assert other.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(other.predict(frame), model.predict(frame))


def test_errors_name_the_column_and_the_parameter():
    frame, y = table()
    model = OnlineRegressor().fit(frame, y.fillna(0))
    late = frame.astype({"rooms": object})
    late.loc[3, "rooms"] = "many"
    with pytest.raises(ValueError, match='column `rooms`.*categorical=\\["COL"\\]'):
        model.predict(late)
    with pytest.raises(ValueError, match="nique column names"):
        OnlineRegressor().fit(pd.concat([frame[["age"]], frame[["age"]]], axis=1), y)
    with pytest.raises(ValueError, match="did you mean `zip`"):
        OnlineRegressor(categorical=["zap"]).fit(frame, y)


def test_predictions_do_not_depend_on_the_order_or_the_type_of_columns():
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0, 4.0], 1: [5.0, 1.0, 2.0, 7.0]})
    estimator = ex.OnlineRegressor().fit(frame, [1.0, 2.0, 3.0, 4.0])
    assert np.array_equal(estimator.predict(frame[[1, 0]]), estimator.predict(frame))
    codes = pd.DataFrame({"code": [7, 12, 7, 12] * 5})
    estimator = ex.OnlineRegressor(categorical=["code"]).fit(codes.astype("Int64"), [0.0, 1.0, 0.0, 1.0] * 5)
    assert estimator.get_feature_names_out().tolist() == ["code=7", "code=12"]
    assert np.array_equal(estimator.predict(codes), estimator.predict(codes.astype("category")))
