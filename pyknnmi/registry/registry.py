"""The registry: finds components by name, wherever they come from."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pluggy

from pyknnmi.errors import (
    ParameterError,
    PluginError,
    SpecError,
    Terminated,
    UnknownNameError,
    described,
    did_you_mean,
    warn,
)
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.spec import Call, Spec
from pyknnmi.protocols.strangers import interrupts_told_apart
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.registry import hookspecs
from pyknnmi.registry.from_function import component_from_function
from pyknnmi.registry.hookspecs import PROJECT, hookimpl
from pyknnmi.search.learners import Learner

__all__ = [
    "Plugin",
    "Registry",
    "default_registry",
    "parse_test",
    "register_ci_test",
    "register_learner",
    "register_transform",
]

BUILT_IN = "built in"
HERE = "registered here"
KINDS: dict[str, type[Component]] = {"wrapper": Wrapper, "transform": Transform, "learner": Learner, "test": CITest}
_HOOKS = {
    "wrapper": "pyknnmi_wrappers",
    "transform": "pyknnmi_transforms",
    "learner": "pyknnmi_learners",
    "test": "pyknnmi_ci_tests",
}


@dataclass(frozen=True)
class Plugin:
    """Where components come from.

    Attributes
    ----------
    name : str
        Name of the entry point, ``built in``, or ``registered here``.
    version : str
        Of the distribution that offers it.
    components : tuple of str
        Names of what it brings.
    problem : str
        Why it was skipped; empty if all is well.
    details : str
        The traceback behind `problem`.
    """

    name: str
    version: str = ""
    components: tuple[str, ...] = ()
    problem: str = ""
    details: str = ""


class Registry:
    """All components by name.

    Loads the built-in components and those of installed distributions in the same way. A plugin that fails to load
    is skipped with a warning and listed with its reason; the rest works on. The environment variable
    ``PYKNNMI_PLUGINS`` chooses the distributions' plugins by name, separated by commas; set and empty, none is loaded.

    Parameters
    ----------
    entry_points : iterable, optional
        What to load beside the built-in plugin; the installed entry points of group ``pyknnmi`` when left out.
    """

    def __init__(self, entry_points: Any = None) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._plugins: dict[str, Plugin] = {}
        self._components: dict[str, tuple[type[Component], str]] = {}
        self._clashes: dict[str, str] = {}
        self._refused: list[str] = []
        version = importlib.metadata.version(PROJECT)
        self._load(BUILT_IN, version, lambda: importlib.import_module("pyknnmi.builtin"))
        if entry_points is None:
            entry_points = _chosen(importlib.metadata.entry_points(group=PROJECT))
        for entry in sorted(entry_points, key=lambda entry: entry.name):
            name, version = entry.name, entry.dist.version if entry.dist else ""
            if name in self._plugins:  # two distributions chose one name
                name = f"{name} ({entry.dist.name})"
            self._load(name, version, entry.load)

    def _load(self, name: str, version: str, load: Callable[[], Any]) -> None:
        try:
            with interrupts_told_apart(lambda: "loading it"):
                plugin = load()
            self._manager.register(plugin, name)
            self._manager.check_pending()
            found = [(cls, kind) for kind, hook in _HOOKS.items() for cls in self._offered(name, hook)]
            for cls, kind in found:
                _check_component(cls, kind)
        except (KeyboardInterrupt, Terminated):
            raise
        except BaseException as error:  # a plugin may leave Python, or raise whatever it has
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            problem = described(error)
            self._plugins[name] = Plugin(name, version, (), problem, traceback.format_exc())
            warn(f"plugin '{name}' was skipped: {problem}")
            return
        for cls, _ in found:
            self._add(cls, name)
        brought = tuple(
            cls.name for cls, _ in found if self._components[cls.name][0] is cls or cls.name in self._clashes
        )
        self._plugins[name] = Plugin(name, version, brought)

    def _offered(self, plugin: str, hook: str) -> Iterator[type[Component]]:
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            if implementation.plugin_name == plugin:
                yield from implementation.function()

    def _add(self, cls: type[Component], plugin: str) -> None:
        other = self._components[cls.name][1] if cls.name in self._components else ""
        if other == BUILT_IN:
            clash = (
                f"the name '{cls.name}' of a component of the plugin '{plugin}' is that of one {BUILT_IN}, "
                "which stays: the plugin must rename its own"
            )
            self._refused.append(clash)
            warn(clash)
        elif other:
            self._clashes[cls.name] = (
                f"the name '{cls.name}' is claimed by two plugins, '{other}' and '{plugin}': uninstall one of them"
            )
        else:
            self._components[cls.name] = (cls, plugin)

    def add(self, cls: type[Component]) -> None:
        """Register a component for this process. One that was added before under the name is replaced."""
        kind = next((kind for kind, base in KINDS.items() if _is_subclass(cls, base)), "")
        if not kind:
            raise PluginError(f"{cls!r} is no CI test, learner, transform or wrapper")
        _check_component(cls, kind)
        if cls.name in self._components and self._components[cls.name][1] != HERE:
            raise PluginError(
                f"the name '{cls.name}' is taken by the plugin '{self._components[cls.name][1]}': choose another"
            )
        key = f"{HERE}: {cls.name}"
        if self._manager.has_plugin(key):
            self._manager.unregister(name=key)

        def offered() -> list[type[Component]]:
            return [cls]

        self._manager.register(SimpleNamespace(**{_HOOKS[kind]: hookimpl(offered)}), key)
        self._components[cls.name] = (cls, HERE)
        names = tuple(name for name, (_, plugin) in self._components.items() if plugin == HERE)
        self._plugins[HERE] = Plugin(HERE, "", names)

    def get(self, name: str) -> type[Component]:
        """Return the component class of this name."""
        if name in self._clashes:
            raise PluginError(self._clashes[name])
        if name not in self._components:
            raise UnknownNameError(
                f"there is no component '{name}'{did_you_mean(name, self._components)} "
                f"(there are {', '.join(sorted(self._components))})"
            )
        return self._components[name][0]

    def component_of(self, spec: Spec, call: Call) -> Component:
        """Return the component that one call of a spec names; errors mark the place in the spec."""
        try:
            cls = self.get(call.name)
            return cls.from_call(self.with_components(cls, spec, call))
        except UnknownNameError as error:
            raise spec.error(str(error), call) from None
        except ParameterError as error:
            raise spec.error(str(error), call, error.parameter) from None

    def with_components(self, cls: type[Component], spec: Spec, call: Call) -> Call:
        """Return the call with components in the place of those that its parameters name."""
        bases = {parameter.name: parameter.component for parameter in cls.parameters() if parameter.component}
        arguments: list[tuple[str, Any]] = []
        for key, value in call.arguments:
            base = bases.get(key)
            if base is not None and isinstance(value, str | Call):
                inner = value if isinstance(value, Call) else Call(value, (), {"": call.positions.get(key, 0)})
                component = self.component_of(spec, inner)
                if not isinstance(component, base):
                    raise spec.error(
                        f"{call.name}: {key} takes a {base.kind}, and '{inner.name}' is a {component.kind}", inner
                    )
                arguments.append((key, component))
            else:
                arguments.append((key, value))
        return Call(call.name, tuple(arguments), call.positions)

    def components(self, kind: str = "") -> list[type[Component]]:
        """Return the component classes, of one kind or all, sorted by kind and name."""
        order = list(KINDS)
        found = [cls for cls, _ in self._components.values() if kind in ("", cls.kind)]
        return sorted(found, key=lambda cls: (order.index(cls.kind), cls.name))

    def plugin_of(self, name: str) -> Plugin:
        """Return the plugin that brings a component; of two that claim a name, the first."""
        if name not in self._components:
            self.get(name)  # says what there is
        return self._plugins[self._components[name][1]]

    def clashes(self) -> list[str]:
        """Return, for each name that is claimed twice, who claims it.

        A name of two plugins cannot be used; that of a built-in component stays its own.
        """
        return [*self._clashes.values(), *self._refused]

    def plugins(self) -> list[Plugin]:
        """Return every plugin found, also those that were skipped."""
        return list(self._plugins.values())

    def add_commands(self, group: Any) -> None:
        """Let every plugin add its commands to a click group; those that fail, or take a name, are left out."""
        for implementation in self._manager.hook.pyknnmi_commands.get_hookimpls():
            plugin, before = implementation.plugin_name, dict(group.commands)
            try:
                implementation.function(group)
            except (KeyboardInterrupt, Terminated):
                raise
            except BaseException as error:
                group.commands = before
                warn(f"the commands of plugin '{plugin}' were skipped: {described(error)}")
            for name in [name for name, command in before.items() if group.commands.get(name) is not command]:
                group.commands[name] = before[name]
                warn(f"the command '{name}' of plugin '{plugin}' was skipped: there is one of this name")


def _chosen(entry_points: Iterable[importlib.metadata.EntryPoint]) -> list[importlib.metadata.EntryPoint]:
    """Return the entry points that ``PYKNNMI_PLUGINS`` names; all of them if it is not set."""
    wanted = os.environ.get("PYKNNMI_PLUGINS")
    if wanted is None:
        return list(entry_points)
    names = {name.strip() for name in wanted.split(",") if name.strip()}
    found = [entry for entry in entry_points if entry.name in names]
    for name in sorted(names - {entry.name for entry in found}):
        warn(f"PYKNNMI_PLUGINS names '{name}', which is not installed")
    return found


_one_at_a_time = threading.RLock()  # with a cache alone, two threads that call at once would make two registries


if hasattr(os, "register_at_fork"):  # else a child could find the lock held by a thread that it does not have
    os.register_at_fork(
        before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release, after_in_child=_one_at_a_time.release
    )


def default_registry() -> Registry:
    """Return the registry of this process; it is made at the first use."""
    with _one_at_a_time:
        return _registry()


@functools.cache
def _registry() -> Registry:
    return Registry()


def parse_test(text: str) -> CITest:
    """Return the CI test that a text names, such as ``knn-cmi(k=5)``.

    Raises
    ------
    SpecError
        Bad grammar, an unknown name, a bad parameter, or a component that is no CI test; the place is marked.

    Examples
    --------
    >>> import pyknnmi
    >>> pyknnmi.parse_test("fisher-z(alpha=0.01)")
    FisherZ(alpha=0.01, correlation='pearson')
    """
    spec = Spec.parse(text)
    component = default_registry().component_of(spec, spec.calls[0])
    if len(spec.calls) != 1 or not isinstance(component, CITest):
        raise SpecError("expected one CI test, such as knn-cmi(k=5)", text, 0)
    return component


def register_ci_test(component: Any, function: Any = None) -> Any:
    """Make a CI test available by name in this process.

    Parameters
    ----------
    component : CITest subclass or str
        A class, or the name for a function.
    function : callable, optional
        ``f(x, y, z)`` on arrays of shape (n,), (n,) and (n, d), which returns a p-value or a pair (statistic,
        p-value). Keyword-only arguments with defaults become parameters of the spec; ``alpha`` is added.

    Returns
    -------
    The class or function itself, so it serves as a decorator, with a name or without.

    Examples
    --------
    >>> import pyknnmi
    >>> @pyknnmi.register_ci_test("always-independent")
    ... def always_independent(x, y, z):
    ...     return 1.0
    >>> pyknnmi.ci_test([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]], 0, 1, test="always-independent").p_value
    1.0
    """
    return _register("test", component, function)


def register_learner(component: Any, function: Any = None) -> Any:
    """Make a learner available by name in this process.

    As `register_ci_test`; a function is ``f(dataset, tester)`` and returns edges as pairs of column names.
    """
    return _register("learner", component, function)


def register_transform(component: Any, function: Any = None) -> Any:
    """Make a transform available by name in this process.

    As `register_ci_test`; a function is ``f(column)`` and returns the new column.
    """
    return _register("transform", component, function)


def _register(kind: str, component: Any, function: Any) -> Any:
    if not isinstance(component, str):
        _check_component(component, kind)
        default_registry().add(component)
        return component
    if function is None:
        return functools.partial(_register, kind, component)
    default_registry().add(component_from_function(kind, component, function))
    return function


def _check_component(cls: Any, kind: str) -> None:
    base = KINDS[kind]
    if not _is_subclass(cls, base):
        raise PluginError(f"{cls!r} is not a subclass of {base.__name__}")
    cls.verify()


def _is_subclass(cls: Any, base: type) -> bool:
    return isinstance(cls, type) and issubclass(cls, base)
