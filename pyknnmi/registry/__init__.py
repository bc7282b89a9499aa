"""Where components are found by name: hooks, plugins, functions, and the start of a new plugin."""
