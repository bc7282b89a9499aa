import pickle

from pyknnmi_kernel.memo import Memo


def test_the_one_not_used_for_longest_goes():
    memo, made = Memo(2), []

    def make(key):
        made.append(key)
        return key.upper()

    for key in "abacab":
        assert memo.get(key, lambda key=key: make(key)) == key.upper()
    assert made == ["a", "b", "c", "b"]


def test_can_be_pickled():
    memo = Memo(2)
    memo.get("a", lambda: 1)
    assert pickle.loads(pickle.dumps(memo)).get("a", lambda: 2) == 1
