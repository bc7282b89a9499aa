import pickle

from pyknnmi.regression import Recent


def recent(most):
    return Recent(most, len)


def test_a_result_is_computed_once():
    kept = recent(10)
    assert kept.get("a", lambda: "first") == "first"
    assert kept.get("a", lambda: "second") == "first"


def test_what_was_not_used_for_longest_makes_room():
    kept = recent(6)
    for key in "abab":
        kept.get(key, lambda: "123")
    kept.get("c", lambda: "123")
    assert kept.get("b", lambda: "new") == "123"
    assert kept.get("a", lambda: "new") == "new"


def test_the_latest_is_kept_even_if_it_is_too_large():
    kept = recent(1)
    kept.get("a", lambda: "123")
    assert kept.get("a", lambda: "new") == "123"


def test_another_process_starts_empty():
    kept = recent(10)
    kept.get("a", lambda: "here")
    assert pickle.loads(pickle.dumps(kept)).get("a", lambda: "there") == "there"
