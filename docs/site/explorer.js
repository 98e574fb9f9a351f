// SPDX-License-Identifier: Apache-2.0
// The explorer's page: sliders, the drive/backdrive diagram and the motion of the pendulum. The law is in law.js, axes in plot.js.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const DT = 0.002; // s
  const SPEEDS = data.speeds; // rad/s, as the diagrams of `bam diagram`
  const CELLS = 96; // of the diagram, per axis
  const BENCH = {
    mass: { symbol: "<i>m</i>", words: "load", unit: "kg" },
    length: { symbol: "<i>l</i>", words: "arm", unit: "m" },
    kp: { symbol: "<i>k</i><sub>p</sub>", words: "gain", unit: "" },
  };
  // Largest value of sliders of friction, where it does not follow from the servo's own value.
  const SPAN = {
    stribeck_velocity: 5, stribeck_exponent: 3, load: 0.6, load_stribeck: 0.6, load_motor: 0.6,
    load_external: 0.6, load_motor_stribeck: 0.6, load_external_stribeck: 0.6,
  };
  const TIED = { load: ["load_motor", "load_external"], load_stribeck: ["load_motor_stribeck", "load_external_stribeck"] };

  const { prepared, axes } = plot2d;
  const find = (id) => document.getElementById(`x-${id}`);
  let servo, bench, kp, model, limit;

  function fill(select, entries) {
    for (const [value, text] of entries) select.append(new Option(text, value));
  }

  // The servo as the library has it.
  function load(name) {
    const found = structuredClone(data.servos[name]);
    servo = found;
    bench = found.bench;
    kp = found.kp;
    model = found.model;
    find("servo").value = name;
    find("model").value = model;
    limit = bam.stallTorque(servo);
    build();
  }

  // Friction with the terms that the chosen model lacks switched off, as BAM's models are one law.
  function reduced() {
    const friction = { quadratic_rule: servo.friction.quadratic_rule };
    for (const name of Object.keys(servo.friction)) {
      if (name === "quadratic_rule") continue;
      friction[name] = name === "stribeck_velocity" || name === "stribeck_exponent" ? 1 : 0;
    }
    for (const name of data.models[model].parameters) {
      for (const each of TIED[name] || [name]) friction[each] = value(name);
    }
    return friction;
  }

  function value(name) {
    return servo.friction[(TIED[name] || [name])[0]];
  }

  function build() {
    const friction = find("friction");
    const motor = find("motor");
    const hung = find("bench");
    for (const each of [friction, motor, hung]) each.replaceChildren();
    for (const name of data.models[model].parameters) {
      const most = spanOf(name);
      const least = name === "stribeck_velocity" || name === "stribeck_exponent" ? most / 100 : 0;
      friction.append(slider(name, data.labels[name], value(name), least, most, (given) => {
        for (const each of TIED[name] || [name]) servo.friction[each] = given;
      }));
    }
    for (const name of ["torque_constant", "resistance", "armature"]) {
      const own = servo.motor[name];
      motor.append(slider(name, data.labels[name], own, own / 4, own * 3, (given) => { servo.motor[name] = given; }));
    }
    hung.append(slider("mass", BENCH.mass, bench.mass, 0, bench.mass * 3, (given) => { bench.mass = given; }));
    hung.append(slider("length", BENCH.length, bench.length, bench.length / 4, bench.length * 2, (given) => { bench.length = given; }));
    hung.append(slider("kp", BENCH.kp, kp, kp / 10, kp * 4, (given) => { kp = given; }));
    draw();
  }

  function spanOf(name) {
    const own = value(name);
    if (SPAN[name]) return Math.max(SPAN[name], 1.5 * own);
    const usual = name.startsWith("quadratic") ? 0.5 / limit : 0.1 * limit; // viscous and Coulomb: of the stall torque
    return Math.max(usual, 1.5 * own);
  }

  function slider(name, label, start, low, high, set) {
    const row = document.createElement("label");
    row.className = "x-slider";
    row.title = label.words;
    row.innerHTML = `<span class="x-name"><span class="x-symbol">${label.symbol}</span> <small>${label.words}</small></span>`;
    const input = document.createElement("input");
    Object.assign(input, { type: "range", min: low, max: high, step: (high - low) / 500, value: start });
    input.dataset.parameter = name;
    const shown = document.createElement("output");
    const tell = (given) => { shown.textContent = `${written(given)} ${label.unit}`; };
    input.addEventListener("input", () => {
      set(input.valueAsNumber);
      tell(input.valueAsNumber);
      draw();
    });
    tell(start);
    row.append(input, shown);
    return row;
  }

  const written = (given) =>
    given !== 0 && Math.abs(given) < 1e-3 ? given.toExponential(1).replace("-", "−") : String(Number(given.toPrecision(3)));

  const color = (name) => getComputedStyle(document.getElementById("explorer")).getPropertyValue(`--x-${name}`).trim();

  function drawDiagram(friction) {
    const paper = prepared(find("diagram"), 0.86);
    const plot = axes(paper, { x: [0, limit], y: [0, limit], labels: ["motor torque τₘ, N·m", "load −τₑ, N·m"], ink: color("ink") });
    const { context } = paper;
    // margins: above 0 driven; below 0 backdriven
    const grid = SPEEDS.map((speed) => marginGrid(friction, speed));
    const [driven, back] = grid[0];
    const side = limit / CELLS;
    for (let i = 0; i < CELLS; i++) {
      for (let j = 0; j < CELLS; j++) {
        const at = i * (CELLS + 1) + j;
        context.fillStyle = color(driven[at] > 0 ? "drive-area" : back[at] < 0 ? "backdrive-area" : "static-area");
        const left = plot.toX(i * side);
        const top = plot.toY((j + 1) * side);
        context.fillRect(left, top, plot.toX((i + 1) * side) - left + 0.6, plot.toY(j * side) - top + 0.6);
      }
    }
    SPEEDS.forEach((speed, k) => {
      context.globalAlpha = Math.exp(-speed / 1.8);
      context.lineWidth = 1.6;
      contour(plot, context, grid[k][0], color("drive"));
      contour(plot, context, grid[k][1], color("backdrive"));
    });
    context.globalAlpha = 1;
    plot.frame();
  }

  function marginGrid(friction, speed) {
    const driven = new Float64Array((CELLS + 1) ** 2);
    const back = new Float64Array((CELLS + 1) ** 2);
    for (let i = 0; i <= CELLS; i++) {
      for (let j = 0; j <= CELLS; j++) {
        const motor = (limit * i) / CELLS;
        const load = (limit * j) / CELLS;
        const budget = bam.budget(friction, motor, -load, speed);
        driven[i * (CELLS + 1) + j] = motor - budget - load;
        back[i * (CELLS + 1) + j] = motor + budget - load;
      }
    }
    return [driven, back];
  }

  // The line where a grid is zero: marching squares.
  function contour(plot, context, grid, stroke) {
    const side = limit / CELLS;
    context.strokeStyle = stroke;
    context.beginPath();
    for (let i = 0; i < CELLS; i++) {
      for (let j = 0; j < CELLS; j++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const points = [];
        corners.forEach(([p, q], k) => {
          const [r, s] = corners[(k + 1) % 4];
          const one = grid[p * (CELLS + 1) + q];
          const two = grid[r * (CELLS + 1) + s];
          if (one > 0 === two > 0) return;
          const share = one / (one - two);
          points.push([plot.toX((p + share * (r - p)) * side), plot.toY((q + share * (s - q)) * side)]);
        });
        for (let k = 0; k + 1 < points.length; k += 2) {
          context.moveTo(...points[k]);
          context.lineTo(...points[k + 1]);
        }
      }
    }
    context.stroke();
  }

  // Goals and torque at every step of the simulation.
  function signals(script) {
    const steps = Math.round(((script.goals.length - 1) * data.goalPeriod) / DT);
    const goals = [];
    const enabled = [];
    for (let k = 0; k <= steps; k++) {
      const time = k * DT;
      goals.push(script.goals[Math.min(Math.floor(time / data.goalPeriod + 1e-9), script.goals.length - 1)]);
      enabled.push(script.release === null || time < script.release ? 1 : 0);
    }
    return { goals, enabled };
  }

  function drawMotion(friction) {
    const { goals, enabled } = signals(data.scripts[find("script").value]);
    const now = bam.run({ ...servo, friction }, bench, kp, goals, enabled, DT);
    const own = data.servos[find("servo").value];
    const library = bam.run(own, own.bench, own.kp, goals, enabled, DT);
    const paper = prepared(find("motion"), 0.86);
    const all = [...goals, ...now, ...library];
    const low = all.reduce((a, b) => Math.min(a, b), 0);
    const high = all.reduce((a, b) => Math.max(a, b), 0);
    const room = 0.06 * (high - low || 1);
    const plot = axes(paper, {
      x: [0, (goals.length - 1) * DT],
      y: [low - room, high + room],
      labels: ["time, s", "position, rad"],
      ink: color("ink"),
    });
    const { context } = paper;
    line(plot, context, goals, color("goal"), 1.4, [2, 3]);
    line(plot, context, library, color("library"), 3, []);
    line(plot, context, now, color("now"), 1.8, []);
    plot.frame();
    const error = now.reduce((sum, each, k) => sum + Math.abs(each - library[k]), 0) / now.length;
    find("error").textContent = `distance ${(1e3 * error).toFixed(1)} mrad on the mean`;
  }

  function line(plot, context, values, stroke, width, dash) {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (let k = 0; k < values.length; k += 4) context.lineTo(plot.toX(k * DT), plot.toY(values[k]));
    context.stroke();
    context.setLineDash([]);
  }

  function draw() {
    const friction = reduced();
    drawDiagram(friction);
    drawMotion(friction);
  }

  fill(find("servo"), Object.entries(data.servos).map(([name, each]) => [name, `${name}: ${each.title}`]));
  fill(find("model"), Object.entries(data.models).map(([name, each]) => [name, `${name.toUpperCase()}: ${each.title}`]));
  fill(find("script"), Object.entries(data.scripts).map(([name, each]) => [name, `${name}: ${each.title}`]));
  find("servo").addEventListener("change", () => load(find("servo").value));
  find("model").addEventListener("change", () => { model = find("model").value; build(); });
  find("script").addEventListener("change", draw);
  find("reset").addEventListener("click", () => load(find("servo").value));
  window.addEventListener("resize", draw);
  new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const named = location.hash.slice(1);
  load(named in data.servos ? named : "xl330");
})();
