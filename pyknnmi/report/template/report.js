"use strict";
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { names, pairs, order } = content;
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  for (const control of document.querySelectorAll("[data-needs-script]")) control.hidden = false;

  // Light or dark: what the system says, until the button is pressed.
  const theme = $("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show_theme = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.textContent = dark ? "Light" : "Dark";
    theme.setAttribute("aria-label", dark ? "Change to light colors" : "Change to dark colors");
  };
  show_theme(system.matches);
  theme.hidden = false;
  system.addEventListener("change", (event) => show_theme(event.matches));
  theme.addEventListener("click", () => show_theme(document.documentElement.dataset.theme !== "dark"));

  const number = (value) =>
    value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : Number(value.toPrecision(4)).toString();
  const described = (pair) => {
    const joined = pair.edge ? "joined" : "not joined";
    const strength = pair.strength === null ? "" : `, strength ${number(pair.strength)}`;
    const p = pair.p === null ? "" : `, p-value ${pair.shown}`;
    return `${names[pair.a]} - ${names[pair.b]}: ${joined}${strength}${p}`;
  };

  // ---- What the filters leave. They hide pairs; nothing is tested again.
  const filter = { strength: 0, p: 1, misses: true, text: "", kind: "all" };
  const passes = (pair) =>
    (pair.strength === null || Math.abs(pair.strength) >= filter.strength) && (pair.p === null || pair.p <= filter.p);

  // ---- The network
  const svg = $("network");
  if (svg) {
    const view = svg.querySelector(".view");
    const nodes = [...svg.querySelectorAll(".node")].map((element, i) => ({
      element, x: content.points[i][0], y: content.points[i][1],
    }));
    const lines = [...svg.querySelectorAll("line[data-pair]")].map((element) => ({
      element, pair: pairs[element.dataset.pair], tip: svg.querySelector(`.tip[data-pair="${element.dataset.pair}"]`),
    }));
    const touching = nodes.map((_, i) => lines.filter(({ pair }) => pair.a === i || pair.b === i));
    const frame = svg.viewBox.baseVal;
    const radius = svg.querySelector("circle").r.baseVal.value;
    const home = { x: 0, y: 0, scale: 1 };
    let camera = { ...home };
    let picked = null, settled = 0;

    const place = () => {
      view.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.scale})`);
      svg.classList.toggle("close", camera.scale >= 1.8);
    };
    const to_frame = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return [at.x, at.y];
    };
    const zoom = (factor, x = frame.x + frame.width / 2, y = frame.y + frame.height / 2) => {
      const scale = Math.min(Math.max(camera.scale * factor, 0.4), 12);
      const ratio = scale / camera.scale;
      camera = { x: x - ratio * (x - camera.x), y: y - ratio * (y - camera.y), scale };
      place();
    };
    const draw_line = ({ element, pair, tip }) => {
      const from = nodes[pair.a], to = nodes[pair.b];
      element.setAttribute("x1", from.x); element.setAttribute("y1", from.y);
      element.setAttribute("x2", to.x); element.setAttribute("y2", to.y);
      if (tip) {
        const [start, end] = pair.arrow > 0 ? [from, to] : [to, from];
        const angle = Math.atan2(end.y - start.y, end.x - start.x);
        const back = radius + 1;
        tip.setAttribute("transform",
          `translate(${end.x - back * Math.cos(angle)} ${end.y - back * Math.sin(angle)}) rotate(${(angle * 180) / Math.PI})`);
      }
    };
    const visible = ({ pair }) => passes(pair) && (pair.edge || filter.misses);
    const light = (i) => {
      svg.classList.toggle("dim", i !== null);
      for (const { element } of nodes) element.classList.remove("lit");
      for (const { element, tip } of lines) { element.classList.remove("lit"); tip?.classList.remove("lit"); }
      if (i === null) return;
      nodes[i].element.classList.add("lit");
      for (const line of touching[i].filter(visible)) {
        line.element.classList.add("lit");
        line.tip?.classList.add("lit");
        nodes[line.pair.a].element.classList.add("lit");
        nodes[line.pair.b].element.classList.add("lit");
      }
    };
    const listed = (title, found, other) => {
      if (!found.length) return [];
      const list = document.createElement("ul");
      for (const pair of found) {
        const item = document.createElement("li");
        const i = other(pair);
        const button = make("button", names[i], { type: "button", class: "name", dir: "auto" });
        button.addEventListener("click", () => pick(i));
        const numbers = [
          pair.strength === null ? "" : `strength ${number(pair.strength)}`, pair.p === null ? "" : `p-value ${pair.shown}`,
        ].filter(Boolean).join(", ");
        item.append(button, make("span", ` ${numbers}`, { class: "note" }));
        if (!pair.edge) item.append(make("div", pair.reason, { class: "note" }));
        list.append(item);
      }
      return [make("h3", title), list];
    };
    const pick = (i) => {
      if (picked !== null) nodes[picked].element.classList.remove("picked");
      picked = i;
      light(i);
      const side = $("side");
      if (i === null) {
        side.replaceChildren(make("p", content.hint, { class: "note" }));
        return;
      }
      nodes[i].element.classList.add("picked");
      const own = pairs.filter((pair) => pair.a === i || pair.b === i);
      const other = (pair) => (pair.a === i ? pair.b : pair.a);
      const blanket = content.blankets[i];
      const parts = [make("h3", names[i], { dir: "auto" })];
      if (content.constant.includes(i)) parts.push(make("p", "This column is constant: it depends on nothing."));
      parts.push(...listed("Joined to", own.filter((pair) => pair.edge), other));
      if (!own.some((pair) => pair.edge)) parts.push(make("p", "It is joined to no other column."));
      if (blanket) {
        parts.push(make("h3", content.blanket_title));
        parts.push(make("p", blanket.length ? blanket.map((j) => names[j]).join(", ") : "none", { dir: "auto" }));
      }
      parts.push(...listed("Near misses", own.filter((pair) => pair.near), other));
      const clear = make("button", "Show all columns", { type: "button" });
      clear.addEventListener("click", () => pick(null));
      side.replaceChildren(...parts, clear);
      $("info").textContent = `${names[i]} is selected.`;
    };
    const focus = (i) => {
      for (const { element } of nodes) element.setAttribute("tabindex", "-1");
      nodes[i].element.setAttribute("tabindex", "0");
      nodes[i].element.focus();
    };
    /** Return the node to move to from node i with an arrow key: near, and in that direction. */
    const towards = (i, dx, dy) => {
      let best = i, least = Infinity;
      nodes.forEach(({ x, y }, j) => {
        const along = (x - nodes[i].x) * dx + (y - nodes[i].y) * dy;
        const aside = Math.abs((x - nodes[i].x) * dy) + Math.abs((y - nodes[i].y) * dx);
        if (along > 1e-6 && along + 2 * aside < least) { best = j; least = along + 2 * aside; }
      });
      return best;
    };
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    nodes.forEach(({ element }, i) => {
      element.addEventListener("mouseenter", () => { if (picked === null && !drag) light(i); });
      element.addEventListener("mouseleave", () => { if (picked === null && !drag) light(null); });
      element.addEventListener("keydown", (event) => {
        if (event.key in arrows) focus(towards(i, ...arrows[event.key]));
        else if (event.key === "Enter" || event.key === " ") pick(i);
        else return;
        event.preventDefault();
      });
    });
    svg.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") zoom(1.25);
      else if (event.key === "-") zoom(0.8);
      else if (event.key === "0") { camera = { ...home }; place(); }
      else if (event.key === "Escape") pick(null);
    });

    // Drag a column, or the whole; a press without a move selects.
    let drag = null;
    svg.addEventListener("pointerdown", (event) => {
      const element = event.target.closest(".node");
      drag = { i: element ? Number(element.dataset.node) : null, at: to_frame(event), moved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const at = to_frame(event);
      if (!drag) { hover(at); return; }
      const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
      if (!drag.moved && Math.hypot(dx, dy) * (svg.clientWidth / frame.width) < 4) return;
      drag.moved = true;
      drag.at = at;
      svg.classList.add("moving");
      if (drag.i === null) {
        camera.x += dx; camera.y += dy;
        place();
      } else {
        const node = nodes[drag.i];
        node.x += dx / camera.scale; node.y += dy / camera.scale;
        node.element.setAttribute("transform", `translate(${node.x} ${node.y})`);
        touching[drag.i].forEach(draw_line);
      }
    });
    const drop = () => {
      if (drag && !drag.moved) pick(drag.i === picked ? null : drag.i);
      drag = null;
      svg.classList.remove("moving");
    };
    svg.addEventListener("pointerup", drop);
    svg.addEventListener("pointercancel", () => { drag = null; svg.classList.remove("moving"); });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !svg.contains(document.activeElement)) return; // the page scrolls
      event.preventDefault();
      svg.classList.add("moving");
      clearTimeout(settled);
      settled = setTimeout(() => svg.classList.remove("moving"), 150);
      zoom(Math.exp(-event.deltaY / 400), ...to_frame(event));
    }, { passive: false });
    $("zoom-in").addEventListener("click", () => zoom(1.4));
    $("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
    $("zoom-home").addEventListener("click", () => { camera = { ...home }; place(); });

    /** Describe the pair whose line is nearest to a point of the frame. */
    const hover = ([x, y]) => {
      const px = (x - camera.x) / camera.scale, py = (y - camera.y) / camera.scale;
      let best = null, least = (7 * frame.width) / svg.clientWidth / camera.scale;
      for (const line of lines) {
        if (!visible(line)) continue;
        const from = nodes[line.pair.a], to = nodes[line.pair.b];
        const [ux, uy] = [to.x - from.x, to.y - from.y];
        const t = Math.min(Math.max(((px - from.x) * ux + (py - from.y) * uy) / (ux * ux + uy * uy || 1), 0), 1);
        const distance = Math.hypot(px - from.x - t * ux, py - from.y - t * uy);
        if (distance < least) { best = line; least = distance; }
      }
      if (best) $("info").textContent = described(best.pair);
    };

    const find = $("find");
    const found = () => {
      const text = find.value.trim().toLowerCase();
      return text ? names.flatMap((name, i) => (name.toLowerCase().includes(text) ? [i] : [])) : [];
    };
    find.addEventListener("input", () => {
      const matches = new Set(found());
      nodes.forEach(({ element }, i) => element.classList.toggle("found", matches.has(i)));
      $("info").textContent = find.value.trim() ? `${matches.size} of ${names.length} columns match.` : "";
    });
    find.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { find.value = ""; find.dispatchEvent(new Event("input")); pick(null); }
      if (event.key !== "Enter") return;
      const exact = names.indexOf(find.value.trim());
      const first = exact >= 0 ? exact : found()[0];
      if (first !== undefined) pick(first);
    });

    filter.redraw = () => {
      for (const line of lines) {
        const hide = !visible(line);
        line.element.classList.toggle("hidden", hide);
        line.element.toggleAttribute("hidden", hide);
        line.element.setAttribute("visibility", hide ? "hidden" : "visible");
        line.tip?.setAttribute("visibility", hide ? "hidden" : "visible");
      }
      light(picked);
    };
    place();
    pick(null);
  }

  // ---- The table
  const table = $("pairs");
  const rows = table ? [...table.tBodies[0].rows] : [];
  const refresh = () => {
    let edges = 0, shown = 0;
    const text = filter.text.toLowerCase();
    for (const row of rows) {
      const pair = pairs[row.dataset.pair];
      const kind = filter.kind === "all" || (filter.kind === "edges" ? pair.edge : pair.near);
      const named = !text || names[pair.a].toLowerCase().includes(text) || names[pair.b].toLowerCase().includes(text);
      row.hidden = !(kind && named && passes(pair));
      shown += !row.hidden;
    }
    for (const pair of pairs) edges += pair.edge && passes(pair);
    const all = pairs.filter((pair) => pair.edge).length;
    if ($("shown")) $("shown").textContent = `${shown} of ${rows.length} pairs are shown.`;
    if ($("hides")) {
      $("hides").textContent = edges === all
        ? `All ${all} edges are shown. A filter only hides edges; it does not test again.`
        : `${edges} of ${all} edges are shown. The filter hides the others; it does not test again, and the graph stays as it was learned.`;
    }
    filter.redraw?.();
  };
  for (const button of table?.querySelectorAll("thead button") ?? []) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = button.dataset.key;
      const value = (row) => {
        const pair = pairs[row.dataset.pair];
        return key === "a" || key === "b" ? names[pair[key]] : pair[key];
      };
      const compare = (one, other) => {
        const [v, w] = [value(one), value(other)];
        if (v === null || w === null) return (v === null) - (w === null); // what was not tested comes last
        const sign = typeof v === "number" || typeof v === "boolean" ? v - w : v.localeCompare(w, undefined, { numeric: true });
        return down ? -sign : sign;
      };
      table.tBodies[0].append(...rows.sort(compare));
    });
  }
  const on = (id, event, work) => $(id)?.addEventListener(event, (e) => { work(e.target); refresh(); });
  on("search", "input", (input) => { filter.text = input.value.trim(); });
  on("kind", "change", (input) => { filter.kind = input.value; });
  on("misses", "change", (input) => { filter.misses = input.checked; });
  on("strength", "input", (input) => {
    filter.strength = content.steps[input.value];
    $("strength-value").textContent = number(filter.strength);
    input.setAttribute("aria-valuetext", number(filter.strength));
  });
  on("p-value", "input", (input) => {
    filter.p = content.p_steps[input.value];
    $("p-value-value").textContent = number(filter.p);
    input.setAttribute("aria-valuetext", number(filter.p));
  });
  refresh();

  // ---- The matrix: the pair under the pointer
  const matrix = $("matrix");
  if (matrix) {
    const of_cell = new Map(pairs.flatMap((pair) => [[`${pair.a},${pair.b}`, pair], [`${pair.b},${pair.a}`, pair]]));
    const cursor = $("cursor");
    let cell = [0, 0];
    const show = (column, row) => {
      cell = [Math.min(Math.max(column, 0), order.length - 1), Math.min(Math.max(row, 0), order.length - 1)];
      const [a, b] = [order[cell[1]], order[cell[0]]];
      const pair = of_cell.get(`${a},${b}`);
      cursor.setAttribute("x", cell[0]); cursor.setAttribute("y", cell[1]);
      cursor.setAttribute("visibility", "visible");
      $("cell").textContent = a === b ? names[a] : pair ? described(pair) : `${names[a]} - ${names[b]}: not tested, or left out of this report`;
    };
    matrix.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.getScreenCTM().inverse());
      if (at.x >= 0 && at.y >= 0 && at.x < order.length && at.y < order.length) show(Math.floor(at.x), Math.floor(at.y));
    });
    matrix.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      show(cell[0] + step[0], cell[1] + step[1]);
    });
  }

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText($(button.dataset.copy).textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren($(button.dataset.copy));
        button.textContent = "Selected: press Ctrl+C";
      }
    });
  }
})();
