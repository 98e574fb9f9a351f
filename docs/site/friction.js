// SPDX-License-Identifier: Apache-2.0
// Friction budgets of M1 to M6 on the page of the friction models: over speed, and over motor torque. The law is in law.js.
"use strict";

const frictionPicture = (() => {
  const FASTEST = 3; // rad/s
  const STRONGEST = 4; // N·m
  const HIGHEST = 3.2; // N·m, of the budget
  const POINTS = 200;
  const STRIBECK = { stribeck_coulomb: 0.3, stribeck_velocity: 0.5, stribeck_exponent: 1.2 };
  const DIRECTED = { load_motor: 0.25, load_external: 0.1, load_motor_stribeck: 0.1, load_external_stribeck: 0.25 };
  const M1 = { viscous: 0.12, coulomb: 0.2 };
  const M3 = { ...M1, load_motor: 0.18, load_external: 0.18 };
  // Coefficients of no servo: so large that each term shows. `beside` is the simpler model that is drawn with it.
  const MODELS = {
    m1: { friction: M1 },
    m2: { friction: { ...M1, ...STRIBECK }, beside: "m1" },
    m3: { friction: M3, beside: "m1" },
    m4: { friction: { ...M3, ...STRIBECK, load_motor_stribeck: 0.18, load_external_stribeck: 0.18 }, beside: "m3" },
    m5: { friction: { ...M1, ...STRIBECK, ...DIRECTED }, beside: "m4" },
    m6: { friction: { ...M1, ...STRIBECK, ...DIRECTED, quadratic_motor: 0.04, quadratic_external: 0.08 }, beside: "m5" },
  };
  const OFF = {
    viscous: 0, coulomb: 0, stribeck_coulomb: 0, stribeck_velocity: 1, stribeck_exponent: 1, load_motor: 0, load_external: 0,
    load_motor_stribeck: 0, load_external_stribeck: 0, quadratic_motor: 0, quadratic_external: 0, quadratic_rule: "paper",
  };

  const place = document.getElementById("friction-picture");
  const find = (name) => place.querySelector(`[data-name="${name}"]`);
  const color = (name) => getComputedStyle(place).getPropertyValue(`--x-${name}`).trim();
  const chosen = () => place.querySelector("input[name=friction-model]:checked").value;

  // N·m; load is what the motor has to hold, -τ_e.
  const budget = (model, motor, load, speed) => bam.budget({ ...OFF, ...MODELS[model].friction }, motor, -load, speed);

  function draw() {
    const [motor, load, speed] = ["motor", "load", "speed"].map((name) => find(name).valueAsNumber);
    for (const name of ["motor", "load"]) find(`${name}-shown`).textContent = `${find(name).valueAsNumber.toFixed(1)} N·m`;
    find("speed-shown").textContent = `${speed.toFixed(1)} rad/s`;
    curves("over-speed", [0, FASTEST], "speed |θ̇|, rad/s", speed, (model, at) => budget(model, motor, load, at));
    curves("over-motor", [-STRONGEST, STRONGEST], "motor torque τₘ, N·m", motor, (model, at) => budget(model, at, load, speed));
  }

  // One panel: the chosen model, the one beside it, and a mark at what the sliders say.
  function curves(name, x, label, now, value) {
    const paper = plot2d.prepared(find(name), 0.72);
    const plot = plot2d.axes(paper, { x, y: [0, HIGHEST], labels: [label, "budget, N·m"], ink: color("ink") });
    const { context } = paper;
    const { beside } = MODELS[chosen()];
    context.save();
    context.beginPath();
    context.rect(plot.box.left, plot.box.top, plot.box.right - plot.box.left, plot.box.bottom - plot.box.top);
    context.clip();
    if (beside) line(plot, context, x, (at) => value(beside, at), color("library"), 3);
    line(plot, context, x, (at) => value(chosen(), at), color("now"), 2);
    context.fillStyle = color("now");
    context.beginPath();
    context.arc(plot.toX(now), plot.toY(value(chosen(), now)), 4, 0, 2 * Math.PI);
    context.fill();
    context.restore();
    plot.frame();
    find("beside").textContent = beside ? beside.toUpperCase() : "";
    find("beside-key").style.visibility = beside ? "visible" : "hidden";
    find("chosen").textContent = chosen().toUpperCase();
  }

  function line(plot, context, [low, high], value, stroke, width) {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.beginPath();
    for (let k = 0; k <= POINTS; k++) {
      const at = low + ((high - low) * k) / POINTS;
      context.lineTo(plot.toX(at), plot.toY(value(at)));
    }
    context.stroke();
  }

  place.addEventListener("input", draw);
  window.addEventListener("resize", draw);
  new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  return { MODELS, OFF, budget };
})();
