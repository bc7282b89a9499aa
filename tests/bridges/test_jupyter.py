"""In a Jupyter kernel a run is a bar, its result a picture, and the stop button ends it."""

from __future__ import annotations

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("ipywidgets")
start_new_kernel = pytest.importorskip("jupyter_client.manager").start_new_kernel

SECONDS = 120  # for one message, on a busy machine


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def messages(client, code):
    """Run a cell, and yield the type and the content of what comes back."""
    cell = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=SECONDS)
        if message["parent_header"].get("msg_id") == cell:
            yield message["msg_type"], message["content"]
            if message["content"].get("execution_state") == "idle":
                return


def test_a_run_is_a_bar_and_its_result_a_picture(kernel):
    code = """
        import pyknnmi
        data, _ = pyknnmi.simulate.small_network(100, seed=2)
        pyknnmi.learn(data, "iamb+fisher-z", progress=pyknnmi.ProgressBar())
    """
    shown = {kind: content["data"] for kind, content in messages(kernel[1], code) if "data" in content}
    assert "0/7" in shown["display_data"]["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in shown["display_data"]
    assert "<svg" in shown["execute_result"]["text/html"]


def test_the_stop_button_ends_a_run_and_the_notebook_goes_on(kernel):
    manager, client = kernel
    code = """
        print("running", flush=True)
        pyknnmi.learn(data, "iamb+knn-cmi(permutations=1000000)", progress=pyknnmi.ProgressBar())
    """
    errors = []
    for kind, content in messages(client, code):
        if kind == "display_data":
            manager.interrupt_kernel()
        if kind == "error":
            errors.append(content["ename"])
    assert errors == ["KeyboardInterrupt"]
    assert [content["text"] for kind, content in messages(client, "print(data.p)") if kind == "stream"] == ["7\n"]
