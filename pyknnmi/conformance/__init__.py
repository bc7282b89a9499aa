"""The checks that every component must pass, by kind; `pyknnmi.testing` is the door to them."""
