// SPDX-License-Identifier: Apache-2.0
// The fit of one log: position above, residual below. Curves are unpacked when their log is chosen.
(() => {
  const data = JSON.parse(document.getElementById("fit-data").textContent);
  const table = document.getElementById("logs");
  const element = (id) => document.getElementById(`fit-${id}`);
  const boxes = [...document.querySelectorAll("#fit input[type=checkbox]")];
  const SVG = "http://www.w3.org/2000/svg"; // a name, nothing that is fetched
  const MARGIN = { left: 54, right: 12, top: 8, bottom: 24 };
  const finger = matchMedia("(pointer: coarse)");
  const unpacked = new Map();
  let name = document.getElementById("fit").dataset.first;
  let view = null; // [from, to] in s while zoomed
  let cursor = null; // s
  let drag = null; // [from, to] in px

  const curve = ([scale, text]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const integers = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 2 }, (_, i) => scale * integers.getInt16(2 * i, true));
  };

  const log = () => {
    if (!unpacked.has(name)) {
      const packed = data.logs[name];
      const residual = Object.entries(packed.residual).map(([model, each]) => [model, curve(each)]);
      const band = Object.entries(packed.band).map(([model, ends]) => [model, ends.map(curve)]);
      unpacked.set(name, {
        time: curve(packed.time), measured: curve(packed.measured), goal: curve(packed.goal),
        residual: Object.fromEntries(residual), band: Object.fromEntries(band), released: packed.released,
      });
    }
    return unpacked.get(name);
  };

  const make = (parent, tag, attributes, text) => {
    const made = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  const ticks = (low, high, count) => {
    const raw = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((lead) => lead * power).find((each) => each >= raw);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const first = Math.ceil(low / step - 1e-9);
    const values = [];
    for (let i = first; i * step <= high + 1e-9 * step; i += 1) values.push(i * step);
    return values.map((value) => [value, value.toFixed(digits).replace(/^-(?=0(\.0*)?$)/, "").replace("-", "−")]);
  };

  const span = (time) => view ?? [time[0], time[time.length - 1]];
  const place = (value, [low, high], length) => (value - low) / (high - low) * length;

  // Curves in view, with one sample either side.
  const range = (time, [from, to]) => {
    let first = 0;
    let last = time.length - 1;
    while (first < last && time[first + 1] < from) first += 1;
    while (last > first && time[last - 1] > to) last -= 1;
    return [first, last];
  };

  const limits = (lines, [first, last], start) => {
    let [low, high] = start;
    for (const line of lines) {
      for (let i = first; i <= last; i += 1) {
        low = Math.min(low, line.values[i]);
        high = Math.max(high, line.values[i]);
      }
    }
    const margin = 0.06 * (high - low || 1e-3);
    return [low - margin, high + margin];
  };

  const draw = (svg, lines, { label, start, bands, released, last }) => {
    const { time } = log();
    const width = svg.clientWidth - MARGIN.left - MARGIN.right;
    const height = svg.clientHeight - MARGIN.top - (last ? MARGIN.bottom + 16 : MARGIN.bottom);
    const horizontal = span(time);
    const shown = range(time, horizontal);
    const ends = bands.flatMap(({ low, high }) => [{ values: low }, { values: high }]);
    const vertical = limits([...lines, ...ends], shown, start);
    const x = (value) => place(value, horizontal, width);
    const y = (value) => height - place(value, vertical, height);
    svg.replaceChildren();
    const plot = make(svg, "g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` });
    for (const [value, text] of ticks(...vertical, Math.max(2, height / 32))) {
      make(plot, "line", { class: "grid", x1: 0, x2: width, y1: y(value), y2: y(value) });
      make(plot, "text", { x: -6, y: y(value), dy: "0.35em", "text-anchor": "end" }, text);
    }
    for (const [value, text] of ticks(...horizontal, Math.max(3.2, width / 85))) {
      make(plot, "line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height });
      make(plot, "text", { x: x(value), y: height + 16, "text-anchor": "middle" }, text);
    }
    make(plot, "text", { transform: `translate(-42 ${height / 2}) rotate(-90)`, "text-anchor": "middle" }, label);
    if (last) make(plot, "text", { x: width / 2, y: height + 33, "text-anchor": "middle" }, "time [s]");
    const inside = make(plot, "svg", { width: Math.max(width, 0), height: Math.max(height, 0), x: 0, y: 0 });
    for (const [from, to] of released) {
      make(inside, "rect", { class: "released", x: x(from), y: 0, width: Math.max(x(to) - x(from), 0), height });
    }
    for (const band of bands) {
      let path = "";
      const point = (i, values) => `${path ? "L" : "M"}${x(time[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      for (let i = shown[0]; i <= shown[1]; i += 1) path += point(i, band.low);
      for (let i = shown[1]; i >= shown[0]; i -= 1) path += point(i, band.high);
      make(inside, "path", { class: `band m-${band.model}`, d: `${path}Z` });
    }
    for (const line of lines) {
      let path = "";
      for (let i = shown[0]; i <= shown[1]; i += 1) {
        path += `${path ? "L" : "M"}${x(time[i]).toFixed(1)} ${y(line.values[i]).toFixed(1)}`;
      }
      make(inside, "path", { class: `curve ${line.kind}`, d: path });
    }
    if (cursor !== null) make(inside, "line", { class: "cursor", x1: x(cursor), x2: x(cursor), y1: 0, y2: height });
    if (drag) {
      const [from, to] = [Math.min(...drag), Math.max(...drag)];
      make(inside, "rect", { class: "drag", x: from, y: 0, width: to - from, height });
    }
  };

  const redraw = () => {
    const { time, measured, goal, residual, band, released } = log();
    const models = boxes.map((box) => box.value).filter((model, i) => boxes[i].checked && model in residual);
    const simulated = models.map((model) => ({
      kind: `model m-${model}`, values: residual[model].map((value, i) => value + measured[i]),
    }));
    const shaded = models.filter((model) => model in band);
    const over = shaded.map((model) => {
      const [low, high] = band[model].map((end) => end.map((value, i) => value + measured[i]));
      return { model, low, high };
    });
    const off = shaded.map((model) => {
      const [low, high] = band[model].map((end) => end.map((value) => 1e3 * value));
      return { model, low, high };
    });
    const left = models.map((model) => ({ kind: `model m-${model}`, values: residual[model].map((v) => 1e3 * v) }));
    draw(element("position"), [
      { kind: "goal", values: goal }, { kind: "measured", values: measured }, ...simulated,
    ], { label: "position [rad]", start: [Infinity, -Infinity], bands: over, released });
    draw(element("residual"), [{ kind: "zero", values: time.map(() => 0) }, ...left],
      { label: "residual [mrad]", start: [0, 0], bands: off, released, last: true });
    const list = models.map((model) => data.titles[model]).join(", ") || "no model";
    element("position").setAttribute("aria-label", `${name}: position over time, goal, measured and ${list}`);
    element("residual").setAttribute("aria-label", `${name}: simulated minus measured position of ${list}`);
    tell(models);
  };

  const nearest = (time) => {
    let best = 0;
    for (let i = 1; i < time.length; i += 1) {
      if (Math.abs(time[i] - cursor) < Math.abs(time[best] - cursor)) best = i;
    }
    return best;
  };

  const tell = (models) => {
    const { time, measured, goal, residual, band, released } = log();
    if (cursor === null) {
      const shade = (released.length ? " Grey: torque off." : "")
        + (models.some((model) => model in band) ? " Coloured: 90 % of new runs' positions." : "");
      const way = finger.matches
        ? "Slide a finger along the curves for values."
        : "Point at the curves for values; drag across them with the mouse to zoom.";
      element("readout").textContent = way + shade;
      return;
    }
    const i = nearest(time);
    const number = (value, digits) => value.toFixed(digits).replace("-", "−");
    element("readout").textContent = [
      `${number(time[i], 3)} s`, `goal ${number(goal[i], 3)} rad`, `measured ${number(measured[i], 3)} rad`,
      ...models.map((model) => `${data.titles[model]} ${number(1e3 * residual[model][i], 1)} mrad off`),
    ].join(" · ");
  };

  const rows = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);

  // Scrolls the table, not the page.
  const reveal = (row) => {
    const list = table.parentElement;
    const head = table.tHead.offsetHeight;
    if (row.offsetTop - head < list.scrollTop) list.scrollTop = row.offsetTop - head;
    const over = row.offsetTop + row.offsetHeight - list.scrollTop - list.clientHeight;
    if (over > 0) list.scrollTop += over;
  };

  const choose = (chosen) => {
    name = chosen;
    view = null;
    cursor = null;
    element("reset").hidden = true;
    element("name").textContent = name;
    for (const row of table.tBodies[0].rows) {
      const here = row.dataset.log === name;
      row.classList.toggle("selected", here);
      row.querySelector("button").setAttribute("aria-pressed", String(here));
      if (!here) continue;
      reveal(row);
      element("about").textContent = row.dataset.about;
      for (const cell of row.querySelectorAll("[data-model]")) {
        document.querySelector(`[data-error="${cell.dataset.model}"]`).textContent = cell.textContent;
      }
    }
    redraw();
  };

  const step = (by) => {
    const names = rows().map((row) => row.dataset.log);
    if (!names.length) return;
    const here = names.indexOf(name);
    choose(names[here < 0 ? 0 : (here + by + names.length) % names.length]);
  };

  const zoom = (to) => {
    view = to;
    element("reset").hidden = view === null;
    redraw();
  };

  for (const svg of [element("position"), element("residual")]) {
    const width = () => svg.clientWidth - MARGIN.left - MARGIN.right;
    const pixel = (event) => {
      const at = event.clientX - svg.getBoundingClientRect().left - MARGIN.left;
      return Math.min(Math.max(at, 0), width());
    };
    const second = (at) => {
      const [from, to] = span(log().time);
      return from + at / width() * (to - from);
    };
    svg.addEventListener("pointermove", (event) => {
      cursor = second(pixel(event));
      if (drag) drag[1] = pixel(event);
      redraw();
    });
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return; // a finger scrolls the page
      drag = [pixel(event), pixel(event)];
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointerup", () => {
      const chosen = drag;
      drag = null;
      if (chosen && Math.abs(chosen[1] - chosen[0]) > 8) zoom(chosen.map(second).sort((a, b) => a - b));
      else redraw();
    });
    svg.addEventListener("pointercancel", () => { drag = null; redraw(); });
    svg.addEventListener("pointerleave", () => { if (!drag) { cursor = null; redraw(); } });
    svg.addEventListener("dblclick", () => zoom(null));
  }
  element("position").addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const { time } = log();
    const [from, to] = span(time);
    cursor = Math.min(Math.max((cursor ?? from) + by * (to - from) / 100, from), to);
    redraw();
  });
  element("reset").addEventListener("click", () => zoom(null));
  element("previous").addEventListener("click", () => step(-1));
  element("next").addEventListener("click", () => step(1));
  for (const box of boxes) box.addEventListener("change", redraw);
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr");
    if (!row) return;
    choose(row.dataset.log);
    document.getElementById("fit").scrollIntoView({ block: "nearest" });
  });
  new ResizeObserver(redraw).observe(element("position"));
  choose(name);
})();
