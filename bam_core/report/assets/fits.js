// SPDX-License-Identifier: Apache-2.0
// The fit of one log: position above, residual and other measurements below, where the page has a place for them.
// Curves are unpacked when their log is chosen.
(() => {
  const data = JSON.parse(document.getElementById("fit-data").textContent);
  const table = document.getElementById("logs");
  const element = (id) => document.getElementById(`fit-${id}`);
  const boxes = [...document.querySelectorAll("#fit input[type=checkbox]")];
  const channels = [...document.querySelectorAll("#fit svg[data-channel]")];
  const goals = document.querySelector("#fit .line.goal") !== null; // none in open loop
  const SVG = "http://www.w3.org/2000/svg"; // a name, nothing that is fetched
  const MARGIN = { left: 58, right: 12, top: 24, bottom: 24 }; // the axis' name is above it, numbers are beside it
  const finger = matchMedia("(pointer: coarse)");
  const unpacked = new Map();
  let name = document.getElementById("fit").dataset.first;
  let view = null; // [from, to] in s while zoomed
  let cursor = null; // s
  let drag = null; // [from, to] in px

  const curve = ([scale, text]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const integers = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
      const integer = integers.getInt16(2 * i, true);
      return integer === -32768 ? NaN : scale * integer; // NaN: not measured
    });
  };

  const log = () => {
    if (!unpacked.has(name)) {
      const packed = data.logs[name];
      const residual = Object.entries(packed.residual).map(([model, each]) => [model, curve(each)]);
      const band = Object.entries(packed.band).map(([model, ends]) => [model, ends.map(curve)]);
      const channel = Object.entries(packed.channel).map(([key, each]) => [key, curve(each)]);
      unpacked.set(name, {
        time: curve(packed.time), measured: curve(packed.measured), goal: curve(packed.goal),
        residual: Object.fromEntries(residual), band: Object.fromEntries(band), released: packed.released,
        channel: Object.fromEntries(channel),
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
        if (Number.isNaN(line.values[i])) continue;
        low = Math.min(low, line.values[i]);
        high = Math.max(high, line.values[i]);
      }
    }
    if (low > high) [low, high] = [0, 0]; // nothing was measured in view
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
    make(plot, "text", { class: "label", x: 6 - MARGIN.left, y: -10 }, label);
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
      let pen = "M"; // anew after what was not measured
      for (let i = shown[0]; i <= shown[1]; i += 1) {
        const gap = Number.isNaN(line.values[i]);
        if (!gap) path += `${pen}${x(time[i]).toFixed(1)} ${y(line.values[i]).toFixed(1)}`;
        pen = gap ? "M" : "L";
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
    const { time, measured, goal, residual, band, released, channel } = log();
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
    const list = models.map((model) => data.titles[model]).join(", ") || "no model";
    const below = channels.filter((svg) => svg.dataset.channel in channel);
    for (const svg of channels) svg.style.display = below.includes(svg) ? "" : "none";
    const lowest = below[below.length - 1] ?? element("residual") ?? element("position");
    const show = (svg, lines, more, about) => {
      draw(svg, lines, { bands: [], released, last: svg === lowest, ...more });
      svg.setAttribute("aria-label", `${name}: ${about}`);
    };
    show(element("position"), [
      ...(goals ? [{ kind: "goal", values: goal }] : []), { kind: "measured", values: measured }, ...simulated,
    ], { label: "position [rad]", start: [Infinity, -Infinity], bands: over },
    `position over time, ${goals ? "goal, " : ""}measured and ${list}`);
    if (element("residual")) {
      show(element("residual"), [{ kind: "zero", values: time.map(() => 0) }, ...left],
        { label: "residual [mrad]", start: [0, 0], bands: off }, `simulated minus measured position of ${list}`);
    }
    for (const svg of below) {
      const { channel: key, title, unit } = svg.dataset;
      const known = channel[key].filter((value) => !Number.isNaN(value));
      const middle = (Math.min(...known) + Math.max(...known)) / 2;
      const half = Number(svg.dataset.span) / 2;
      show(svg, [{ kind: "measured", values: channel[key] }],
        { label: unit ? `${title} [${unit}]` : title, start: [middle - half, middle + half] }, `${title} over time`);
    }
    tell(models, below);
  };

  const nearest = (time) => {
    let best = 0;
    for (let i = 1; i < time.length; i += 1) {
      if (Math.abs(time[i] - cursor) < Math.abs(time[best] - cursor)) best = i;
    }
    return best;
  };

  const tell = (models, below) => {
    const { time, measured, goal, residual, band, released, channel } = log();
    if (cursor === null) {
      const shade = (released.length ? " Grey: torque off." : "")
        + (models.some((model) => model in band) ? " Coloured: 90 % of new runs' positions." : "");
      const way = finger.matches
        ? "Slide a finger along the curves for values."
        : "Point at the curves for values; drag across them to zoom.";
      element("readout").textContent = way + shade;
      return;
    }
    const i = nearest(time);
    const number = (value, digits) => value.toFixed(digits).replace("-", "−");
    element("readout").textContent = [
      `${number(time[i], 3)} s`, ...(goals ? [`goal ${number(goal[i], 3)} rad`] : []), `measured ${number(measured[i], 3)} rad`,
      ...models.map((model) => `${data.titles[model]} ${number(1e3 * residual[model][i], 1)} mrad off`),
      ...below.filter((svg) => !Number.isNaN(channel[svg.dataset.channel][i])).map(({ dataset }) => (
        `${dataset.title} ${number(channel[dataset.channel][i], 2)} ${dataset.unit}`.trim())),
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
      if (element("run")) element("run").textContent = row.dataset.run; // in the command of a film
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

  for (const svg of [element("position"), element("residual"), ...channels].filter(Boolean)) {
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
