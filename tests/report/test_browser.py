"""The report in a real browser: Chromium without a window, driven by Selenium."""

from __future__ import annotations

import itertools
import json
import os
import shutil

import pytest
from made_results import HOSTILE, hostile_result, mixed_result

import pyknnmi
from pyknnmi import simulate

webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="chromium and chromedriver are not installed (Debian: apt install chromium chromium-driver)",
    ),
]

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1280,1000"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    os.environ.setdefault("SE_OFFLINE", "true")  # the driver is here: nothing is to be looked for
    driver = webdriver.Chrome(options=options, service=service)
    driver.get("about:blank")
    driver.get_log("performance")  # what the browser's own first page loaded
    yield driver
    driver.quit()


@pytest.fixture
def shown(browser, tmp_path):
    """Opens the report of a result; at the end no error was logged and nothing but the file was loaded."""

    def show(result, dark=False, width=1280):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        features.append({"name": "prefers-reduced-motion", "value": "reduce"})  # nothing moves while it is clicked
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(result.report(tmp_path / "report.html").as_uri())
        return browser

    yield show
    assert browser.get_log("browser") == []  # what the policy of the page refuses is logged, too
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    loaded = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {url for url in loaded if not url.startswith(("file:", "data:", "about:"))} == set()


@pytest.fixture(scope="module")
def network():
    return pyknnmi.learn(simulate.small_network(400, seed=1)[0], "iamb+fisher-z")


def table(page):
    rows = page.find_elements(By.CSS_SELECTOR, "#pairs tbody tr")
    return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows if row.is_displayed()]


def slide(page, name, value):
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.execute_script(script, page.find_element(By.ID, name), value)


def lines(page):
    found = page.find_elements(By.CSS_SELECTOR, "#network line")
    return [line for line in found if line.get_attribute("visibility") != "hidden"]


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_the_order(shown, network):
    page = shown(network)
    heading = page.find_element(By.CSS_SELECTOR, "[data-key=p]")
    for expected, order in (("ascending", 1), ("descending", -1)):
        heading.click()
        assert page.find_element(By.CSS_SELECTOR, "th[aria-sort]").get_attribute("aria-sort") == expected
        values = [float(row[4].lstrip("<")) for row in table(page)]
        assert values == sorted(values, key=lambda p, order=order: order * p)


def test_search_and_choice_narrow_the_table_and_say_so(shown):
    page = shown(mixed_result())
    assert len(table(page)) == 6
    page.find_element(By.ID, "search").send_keys("d")
    assert [row[:2] for row in table(page)] == [["a", "d"], ["b", "d"]]
    assert page.find_element(By.ID, "shown").text == "2 of 6 pairs are shown."
    page.find_element(By.ID, "search").clear()
    page.find_element(By.ID, "search").send_keys(" ")
    page.find_element(By.CSS_SELECTOR, "#kind option[value=misses]").click()
    assert [row[:2] for row in table(page)] == [["a", "c"]]


def test_a_filter_hides_edges_and_says_that_nothing_is_tested_again(shown, network):
    page = shown(network)
    edges = len(network.graph.edges)
    assert page.find_element(By.ID, "hides").text.startswith(f"All {edges} edges are shown.")
    slide(page, "strength", edges)  # the last step is the strongest edge
    said = page.find_element(By.ID, "hides").text
    assert said.startswith(f"1 of {edges} edges are shown.")
    assert "does not test again" in said
    assert len(lines(page)) == 1


def test_a_click_on_a_column_shows_its_neighbors(shown, network):
    page = shown(network)
    names = network.graph.names
    name = max(names, key=lambda name: len(network.graph.neighbors(name)))
    page.find_element(By.CSS_SELECTOR, f'[data-node="{names.index(name)}"] circle').click()
    side = page.find_element(By.ID, "side")
    joined = [button.text for button in side.find_elements(By.CSS_SELECTOR, "h3:nth-of-type(2) + ul button")]
    assert sorted(joined) == sorted(network.graph.neighbors(name))
    blanket = side.find_element(By.XPATH, ".//h3[text()='Found from this column']/following-sibling::p").text
    assert tuple(blanket.split(", ")) == network.blankets[name]
    assert len(page.find_elements(By.CSS_SELECTOR, "#network line.lit:not(.miss)")) == len(joined)


def test_the_network_is_used_by_keyboard(shown, network):
    page = shown(network)
    svg = page.find_element(By.ID, "network")
    page.execute_script("document.querySelector('#network .node[tabindex=\"0\"]').focus()")
    before = page.switch_to.active_element.get_attribute("data-node")
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.ARROW_UP):
        page.switch_to.active_element.send_keys(key)
        if page.switch_to.active_element.get_attribute("data-node") != before:
            break
    focused = page.switch_to.active_element
    assert focused.get_attribute("data-node") != before
    focused.send_keys(Keys.ENTER)
    name = network.graph.names[int(focused.get_attribute("data-node"))]
    assert page.find_element(By.CSS_SELECTOR, "#side h3").text == name
    focused.send_keys("+")
    assert "scale(1.25)" in svg.find_element(By.CSS_SELECTOR, ".view").get_attribute("transform")
    focused.send_keys(Keys.ESCAPE)
    assert "dim" not in svg.get_attribute("class")


def test_a_column_is_found_by_its_name(shown, network):
    page = shown(network)
    page.find_element(By.ID, "find").send_keys("x5", Keys.ENTER)
    assert page.find_element(By.CSS_SELECTOR, "#side h3").text == "X5"


def test_a_dragged_column_takes_its_edges_along(shown, network):
    page = shown(network)
    i = network.graph.names.index(network.graph.edges[0][0])
    node = page.find_element(By.CSS_SELECTOR, f'[data-node="{i}"] circle')
    webdriver.ActionChains(page).drag_and_drop_by_offset(node, 40, 30).perform()
    moved = page.find_element(By.CSS_SELECTOR, f'[data-node="{i}"]').get_attribute("transform")
    x, y = (float(number) for number in moved.removeprefix("translate(").removesuffix(")").split())
    pairs = page.execute_script("return JSON.parse(document.getElementById('content').textContent)")["pairs"]
    touching = [place for place, pair in enumerate(pairs) if i in (pair["a"], pair["b"]) and pair["edge"]]
    for place in touching:
        line = page.find_element(By.CSS_SELECTOR, f'line[data-pair="{place}"]')
        end = "1" if pairs[place]["a"] == i else "2"
        assert float(line.get_attribute(f"x{end}")) == pytest.approx(x)
        assert float(line.get_attribute(f"y{end}")) == pytest.approx(y)


def test_hostile_names_are_text(shown):
    page = shown(hostile_result())
    assert page.title == "A learned network"
    assert {name for row in table(page) for name in row[:2]} == {" ".join(name.split()) for name in HOSTILE}
    assert page.find_elements(By.TAG_NAME, "img") == []
    page.find_element(By.CSS_SELECTOR, "#network .node circle").click()
    assert page.find_element(By.CSS_SELECTOR, "#side h3").text == HOSTILE[0]


@pytest.mark.parametrize("dark", [False, True])
def test_letters_stand_out_from_the_paper_in_light_and_dark(shown, network, dark):
    page = shown(network, dark=dark)
    for selector in ("h1", ".lead", "td", "tr.miss td", ".note", "a", "dd"):
        element = page.find_elements(By.CSS_SELECTOR, selector)[-1]
        ink = page.execute_script("return getComputedStyle(arguments[0]).color", element)
        assert contrast(ink, page.execute_script(PAPER_BEHIND, element)) >= 4.5, selector  # WCAG 2.1, 1.4.3 (AA)
    page.find_element(By.ID, "theme").click()
    assert page.execute_script("return document.documentElement.dataset.theme") == ("light" if dark else "dark")


PAPER_BEHIND = """
let element = arguments[0];
while (getComputedStyle(element).backgroundColor === "rgba(0, 0, 0, 0)") element = element.parentElement;
return getComputedStyle(element).backgroundColor;
"""


def contrast(one, other):
    """Return the contrast of two colours, by the definition of WCAG 2.1."""

    def luminance(color):
        shares = [int(part) / 255 for part in color.removeprefix("rgb(").removesuffix(")").split(",")]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_no_wider_than_the_screen(shown, network, width):
    page = shown(network, width=width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_controls_and_drawings_have_names_for_a_screen_reader(shown, network):
    page = shown(network)
    for element in page.find_elements(By.CSS_SELECTOR, "button, input, select, svg[role], [role=region], .node"):
        assert element.accessible_name, element.get_attribute("outerHTML")[:80]


def test_the_matrix_says_what_is_under_the_cursor(shown, network):
    page = shown(network)
    page.find_element(By.ID, "matrix").send_keys(Keys.ARROW_RIGHT)
    names = network.graph.names
    said = page.find_element(By.ID, "cell").text
    assert sum(name in said for name in names) == 2


@pytest.fixture(scope="module")
def wide():
    data, _ = simulate.random_gaussian(60, 200, edge_probability=0.005, seed=3)
    return pyknnmi.learn(data, "iamb+fisher-z(alpha=0.001)")


FRAMES = """
const done = arguments[arguments.length - 1];
const [svg, node] = [document.getElementById("network"), document.querySelector("#network .node circle")];
const at = (type, i) =>
  new PointerEvent(type, { pointerId: 1, bubbles: true, clientX: 300 + 4 * i, clientY: 300 + 3 * i });
svg.setPointerCapture = () => {};
const times = [];
const frame = (now) => {
  times.push(now);
  if (times.length > 60) { svg.dispatchEvent(at("pointerup", 60)); done(times); return; }
  if (times.length % 2) svg.dispatchEvent(at("pointermove", times.length));
  else document.getElementById(times.length % 4 ? "zoom-in" : "zoom-out").click();
  requestAnimationFrame(frame);
};
node.dispatchEvent(at("pointerdown", 0));
requestAnimationFrame(frame);
"""


def test_two_hundred_columns_are_dragged_and_zoomed_at_30_frames_a_second(shown, wide):
    page = shown(wide)
    assert len(page.find_elements(By.CSS_SELECTOR, "#network .node")) == 200
    moved = page.find_element(By.CSS_SELECTOR, "#network .node").get_attribute("transform")
    times = page.execute_async_script(FRAMES)
    assert page.find_element(By.CSS_SELECTOR, "#network .node").get_attribute("transform") != moved
    lasted = sorted(after - before for before, after in itertools.pairwise(times))
    assert lasted[len(lasted) // 4] <= 1000 / 30  # the quicker ones: others wait for whatever else the machine does


def test_print_holds_every_pair_and_no_controls(shown, wide):
    page = shown(wide, dark=True)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert all(row.is_displayed() for row in page.find_elements(By.CSS_SELECTOR, "#pairs tbody tr"))
        scroll = page.find_element(By.CSS_SELECTOR, ".scroll")
        assert page.execute_script("return arguments[0].clientHeight === arguments[0].scrollHeight", scroll)
        for name in ("nav", ".controls", ".zoom", "#theme", "#side", "[data-copy]"):
            assert not page.find_element(By.CSS_SELECTOR, name).is_displayed(), name
        paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
