// SPDX-License-Identifier: Apache-2.0
// A canvas with axes, for the pages that draw.
"use strict";

const plot2d = (() => {
  // A canvas as wide as its place, sharp on every screen; returns its context in CSS pixels.
  function prepared(canvas, ratio) {
    const width = Math.round(canvas.parentElement.clientWidth);
    const height = Math.round(width * ratio);
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    return { context, width, height };
  }

  // Frame, grid and ticks; returns functions from values to pixels.
  function axes({ context, width, height }, { x, y, labels, ink }) {
    const box = { left: 46, right: width - 10, top: 10, bottom: height - 38 };
    const toX = (at) => box.left + ((at - x[0]) / (x[1] - x[0])) * (box.right - box.left);
    const toY = (at) => box.bottom - ((at - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
    const frame = () => {
      context.fillStyle = context.strokeStyle = ink;
      context.lineWidth = 0.6;
      context.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
      context.textAlign = "center";
      for (const at of ticks(x)) context.fillText(at, toX(at), box.bottom + 15);
      context.fillText(labels[0], (box.left + box.right) / 2, height - 5);
      context.textAlign = "right";
      for (const at of ticks(y)) context.fillText(at, box.left - 5, toY(at) + 4);
      context.save();
      context.translate(11, (box.top + box.bottom) / 2);
      context.rotate(-Math.PI / 2);
      context.textAlign = "center";
      context.fillText(labels[1], 0, 0);
      context.restore();
    };
    return { box, toX, toY, frame };
  }

  function ticks([low, high]) {
    const raw = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(raw));
    const size = [1, 2, 5, 10].find((each) => each * power >= raw) * power;
    const found = [];
    for (let k = Math.ceil(low / size - 1e-9); k * size <= high + 1e-9 * size; k++) found.push(Number((k * size).toPrecision(6)));
    return found;
  }

  return { prepared, axes };
})();
