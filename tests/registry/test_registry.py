from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import click
import pytest

import pyknnmi
from pyknnmi import (
    Pipeline,
    PluginError,
    PyknnmiWarning,
    UnknownNameError,
    register_ci_test,
    register_learner,
    register_transform,
)
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.components import CITest, hookimpl
from pyknnmi.errors import Terminated
from pyknnmi.registry.registry import Plugin, Registry, default_registry


def ci_test_class(name):
    @dataclass(frozen=True, kw_only=True)
    class Test(CITest):
        """Never tested."""

        def bind(self, dataset, run):
            raise NotImplementedError

    Test.name = name
    return Test


def plugin(tests=(), **hooks):
    offered = {"pyknnmi_ci_tests": hookimpl(lambda: list(tests))} if tests else {}
    return SimpleNamespace(**offered, **{name: hookimpl(hook) for name, hook in hooks.items()})


def entry(name, plugin, version="1.0", distribution="pyknnmi-some"):
    def load():
        if isinstance(plugin, Exception):
            raise plugin
        return plugin

    return SimpleNamespace(name=name, dist=SimpleNamespace(name=distribution, version=version), load=load)


def test_the_built_in_components():
    registry = Registry(entry_points=[])
    (built_in,) = registry.plugins()
    assert built_in.name == "built in"
    assert {"knn-cmi", "fisher-z", "separation", "iamb", "standardize", "ranks", "nonparanormal"} <= set(
        built_in.components
    )
    assert registry.get("fisher-z") is FisherZ
    assert registry.plugin_of("fisher-z") == built_in
    kinds = [cls.kind for cls in registry.components()]
    assert kinds == sorted(kinds, key=["wrapper", "transform", "learner", "test"].index)
    assert [cls.name for cls in registry.components("test")] == sorted(cls.name for cls in registry.components("test"))
    assert registry.clashes() == []


def test_entry_points_are_loaded_as_the_built_in_ones_are():
    mine = ci_test_class("mine")
    registry = Registry([entry("good", plugin([mine]), "2.1")])
    assert registry.get("mine") is mine
    assert registry.plugin_of("mine") == Plugin("good", "2.1", ("mine",))
    assert str(Pipeline.parse("iamb+mine", registry)).endswith("+mine")


def nothing():
    return []


BROKEN = {
    "import": (ImportError("no module named 'torch'"), "ImportError: no module named 'torch'"),
    "misspelt hook": (plugin(pyknnmi_ci_test=nothing), "unknown hook 'pyknnmi_ci_test'"),
    "wrong kind": (plugin([IAMB]), "is not a subclass of CITest"),
    "no class": (plugin([FisherZ()]), "is not a subclass of CITest"),
    "bad name": (plugin([ci_test_class("Bad")]), "name = 'Bad': give a lower-case name"),
    "raises": (plugin(pyknnmi_learners=lambda: 1 / 0), "ZeroDivisionError"),
    "no list": (plugin(pyknnmi_learners=lambda: None), "TypeError"),
    "arguments": (plugin(pyknnmi_learners=lambda wrong: []), "pyknnmi_learners"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_reported_and_skipped(case):
    broken, problem = BROKEN[case]
    entries = [entry("a-good", plugin([ci_test_class("a")])), entry("broken", broken), entry("z-good", plugin())]
    with pytest.warns(PyknnmiWarning, match="plugin 'broken' was skipped"):
        registry = Registry(entries)
    assert registry.get("a").name == "a"
    listed = {plugin.name: plugin for plugin in registry.plugins()}
    assert set(listed) == {"built in", "a-good", "broken", "z-good"}
    assert problem in listed["broken"].problem
    assert "Traceback" in listed["broken"].details
    assert listed["broken"].components == ()
    assert listed["a-good"].problem == ""


def test_a_plugin_that_leaves_python_is_skipped():
    def load():
        sys.exit(1)

    with pytest.warns(PyknnmiWarning, match="plugin 'leaving' was skipped: SystemExit: 1"):
        registry = Registry([SimpleNamespace(name="leaving", dist=None, load=load)])
    assert "iamb" in {cls.name for cls in registry.components()}


def test_threads_get_the_same_registry(registry):
    pyknnmi.registry.registry._registry.cache_clear()
    together = threading.Barrier(4)

    def first_use(_):
        together.wait()
        return default_registry()

    with ThreadPoolExecutor(together.parties) as threads:
        assert len(set(map(id, threads.map(first_use, range(together.parties))))) == 1


def test_a_name_clash_names_both_sides():
    entries = [entry("one", plugin([ci_test_class("same")])), entry("two", plugin([ci_test_class("same")]))]
    registry = Registry(entries)
    message = "the name 'same' is claimed by two plugins, 'one' and 'two': uninstall one of them"
    with pytest.raises(PluginError, match=message):
        registry.get("same")
    assert registry.clashes() == [message]
    assert registry.get("iamb") is IAMB
    with pytest.raises(PluginError, match="claimed by two plugins"):
        Pipeline.parse("iamb+same", registry)


def test_a_built_in_component_stays_where_a_plugin_claims_its_name():
    with pytest.warns(PyknnmiWarning, match="'fisher-z' of a component of the plugin 'mine' is that of one built in"):
        registry = Registry([entry("mine", plugin([ci_test_class("fisher-z"), ci_test_class("own")]))])
    assert registry.get("fisher-z") is FisherZ
    assert registry.plugin_of("own") == Plugin("mine", "1.0", ("own",))
    assert len(registry.clashes()) == 1


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


class Outside(BaseException):
    pass


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "loading it: it raised KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (Outside("x"), "Outside: x"),
        (UnspeakableError(), "UnspeakableError: its message cannot be shown"),
        (ValueError("\x1b[31mred"), r"ValueError: \x1b[31mred"),
    ],
)
def test_whatever_a_plugin_raises_is_reported_and_skipped(error, problem):
    def load():
        raise error

    with pytest.warns(PyknnmiWarning, match=re.escape(problem)):
        registry = Registry([SimpleNamespace(name="odd", dist=None, load=load)])
    assert [plugin.problem.removeprefix("PluginError: ") for plugin in registry.plugins()] == ["", problem]


def test_ctrl_c_and_sigterm_while_plugins_load_are_no_errors_of_theirs():
    def pressed():
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Registry([SimpleNamespace(name="slow", dist=None, load=pressed)])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)

    def ended():
        raise Terminated(143)

    with pytest.raises(Terminated):
        Registry([SimpleNamespace(name="slow", dist=None, load=ended)])


def test_two_distributions_with_one_entry_point_name():
    entries = [
        entry("same", plugin([ci_test_class("first")]), "1.0", "pyknnmi-a"),
        entry("same", plugin([ci_test_class("second")]), "2.0", "pyknnmi-b"),
    ]
    registry = Registry(entries)
    assert registry.plugin_of("first") == Plugin("same", "1.0", ("first",))
    assert registry.plugin_of("second") == Plugin("same (pyknnmi-b)", "2.0", ("second",))


def test_unknown_names():
    message = r"there is no component 'fisher'; did you mean 'fisher-z'\? \(there are .*, iamb, .*, standardize\)"
    with pytest.raises(UnknownNameError, match=message):
        Registry([]).get("fisher")


def test_the_environment_chooses_plugins(monkeypatch):
    found = [EntryPoint(name, f"{module}:__name__", "pyknnmi") for name, module in (("one", "json"), ("two", "math"))]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: found)
    monkeypatch.setenv("PYKNNMI_PLUGINS", "")
    assert [plugin.name for plugin in Registry().plugins()] == ["built in"]
    monkeypatch.setenv("PYKNNMI_PLUGINS", " two , three")
    with pytest.warns(PyknnmiWarning, match="PYKNNMI_PLUGINS names 'three', which is not installed"):
        names = [plugin.name for plugin in Registry().plugins()]
    assert names == ["built in", "two"]


def test_registering_by_hand(registry):
    mine = ci_test_class("mine")
    assert register_ci_test(mine) is mine
    assert registry.get("mine") is mine
    again = ci_test_class("mine")
    register_ci_test(again)
    assert registry.get("mine") is again, "a cell of a notebook is run again"
    assert registry.plugin_of("mine").name == "registered here"
    assert registry.plugin_of("mine").components == ("mine",)


def test_names_that_are_taken(registry):
    with pytest.raises(PluginError, match="the name 'fisher-z' is taken by the plugin 'built in': choose another"):
        register_ci_test(ci_test_class("fisher-z"))
    with pytest.raises(PluginError, match="the name 'iamb' is taken"):
        register_transform("iamb", lambda column: column)


def test_wrong_kinds(registry):
    with pytest.raises(PluginError, match="is not a subclass of Learner"):
        register_learner(ci_test_class("mine"))
    with pytest.raises(PluginError, match="is no CI test, learner, transform or wrapper"):
        registry.add(int)


def test_plugins_add_commands():
    def add(group):
        group.add_command(click.Command("extra"))

    group = click.Group()
    Registry([entry("commands", plugin(pyknnmi_commands=add))]).add_commands(group)
    assert list(group.commands) == ["extra"]


def test_commands_that_fail_or_take_a_name_are_left_out():
    own, theirs = click.Command("learn"), click.Command("learn")

    def fails(group):
        group.add_command(click.Command("half"))
        raise RuntimeError("no such luck")

    def takes(group):
        group.add_command(theirs)
        group.add_command(click.Command("extra"))

    group = click.Group(commands=[own])
    registry = Registry(
        [entry("first", plugin(pyknnmi_commands=fails)), entry("second", plugin(pyknnmi_commands=takes))]
    )
    with pytest.warns(PyknnmiWarning) as caught:
        registry.add_commands(group)
    assert [str(warning.message) for warning in caught] == [
        "the commands of plugin 'first' were skipped: RuntimeError: no such luck",
        "the command 'learn' of plugin 'second' was skipped: there is one of this name",
    ]
    assert group.commands["learn"] is own
    assert set(group.commands) == {"learn", "extra"}


def test_the_import_makes_no_registry():
    code = (
        "import pyknnmi.registry.registry, sys; assert pyknnmi.registry.registry._registry.cache_info().currsize == 0; "
        "assert 'pyknnmi.builtin' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_summaries_are_there():
    for cls in Registry([]).components():
        assert cls.summary().endswith((".", "?")), cls
