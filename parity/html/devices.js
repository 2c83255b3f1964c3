"use strict";
// Ceilings of devices.
(function () {
  const { make, card, table, chart, axis, series, colour, unit, decades, number } = page;

  // Where a square matrix begins another tile of its kernel, and another wave of tiles over the units.
  function edges(ceiling, device) {
    if (device.type === "cpu") return { tiles: [], waves: [] };
    const largest = Math.max(...ceiling.sizes.map((s) => s.size));
    const named = ceiling.sizes.map((s) => /tile(\d+)/.exec(s.kernel)).filter((m) => m).map((m) => Number(m[1]));
    const tile = named.length > 0 ? Math.max(...named) : 128;
    const tiles = [], waves = [];
    for (let n = tile, wave = 0; n <= largest; n += tile) {
      const now = device.units > 0 ? Math.ceil((n / tile) ** 2 / device.units) : 0;
      (now > wave && device.units > 0 ? waves : tiles).push(n);
      wave = now;
    }
    return { tiles, waves };
  }
  const verticals = {
    id: "verticals",
    beforeDatasetsDraw(drawn, _, options) {
      const { ctx, chartArea, scales } = drawn;
      ctx.save();
      for (const [list, width, dash] of [[options.tiles || [], 0.5, [2, 4]], [options.waves || [], 1.2, [6, 3]]]) {
        ctx.strokeStyle = colour("--soft");
        ctx.lineWidth = width;
        ctx.setLineDash(dash);
        for (const n of list) {
          const x = scales.x.getPixelForValue(n);
          ctx.beginPath();
          ctx.moveTo(x, chartArea.top);
          ctx.lineTo(x, chartArea.bottom);
          ctx.stroke();
        }
      }
      ctx.restore();
    },
  };
  function matmulChart(c) {
    const shown = c.matmuls.filter((m) => m.sizes.length > 1);
    if (shown.length === 0) return null;
    const gpu = c.device.type !== "cpu";
    return chart("Matrix products", "Throughput of n × n by n × n, by precision of the operands.", () => ({
      type: "line",
      data: {
        datasets: shown.map((m, i) => ({
          label: m.precision, borderColor: series(i), backgroundColor: series(i), pointRadius: 2, borderWidth: 2,
          data: m.sizes.map((s) => ({ x: s.size, y: s.flop_per_s, kernel: s.kernel })),
        })),
      },
      options: {
        scales: {
          x: axis("n", gpu ? "linear" : "logarithmic", gpu ? {} : { ticks: {
            maxRotation: 0, callback: (v) => ([10, 20, 50, 100, 200, 500, 1000, 2000, 5000].includes(v) ? v : "") } }),
          y: axis("FLOP/s", "linear", { min: 0, ticks: { callback: (v) => (v === 0 ? "0" : unit(v, "")) } }),
        },
        plugins: {
          verticals: edges(shown[0], c.device),
          tooltip: { callbacks: { label: (t) => t.dataset.label + ": " + unit(t.raw.y, "FLOP/s") + ", " + t.raw.kernel } },
        },
      },
      plugins: [verticals],
    }), true);
  }
  function copyChart(c) {
    if (c.copies.length < 2) return null;
    return chart("Copies", "Bytes read and written per second, over the bytes of one copy: caches show as steps.", () => ({
      type: "line",
      data: { datasets: [{ label: "copy", borderColor: series(0), backgroundColor: series(0), pointRadius: 3,
        data: c.copies.map((r) => ({ x: r.bytes, y: r.bytes_per_s })) }] },
      options: {
        plugins: { legend: { display: false } },
        scales: { x: axis("bytes", "logarithmic", { ticks: decades("B") }),
          y: axis("B/s", "linear", { min: 0, ticks: { callback: (v) => (v === 0 ? "0" : unit(v, "")) } }) },
      },
    }), true);
  }
  function section(c) {
    const rows = c.matmuls.map((m) => {
      const best = m.sizes.reduce((a, b) => (b.flop_per_s > a.flop_per_s ? b : a), m.sizes[0]);
      return ["matmul in " + m.precision, unit(m.flop_per_s, "FLOP/s"), best ? "at n = " + best.size + ", " + best.kernel : ""];
    });
    if (c.copies.length > 0) {
      const last = c.copies[c.copies.length - 1];
      rows.push(["copy", unit(last.bytes_per_s, "B/s"), "of " + unit(last.bytes, "B")]);
    }
    rows.push(["an empty step", number(c.step_ms * 1e3) + " µs", "what one more dispatch adds to a run"]);
    rows.push(["an empty run", number(c.run_ms * 1e3) + " µs", "what a run costs before its first step"]);
    const grid = make("div", { class: "grid" });
    for (const part of [matmulChart(c), copyChart(c)]) if (part) grid.append(part);
    return make("section", {},
      make("h2", {}, c.backend + ": " + c.device.name),
      make("p", { class: "soft small" }, c.device.driver + (c.device.units ? "; " + c.device.units + " units" : "")),
      card(null, table(["", "ceiling", ""], rows.map((r) => [r[0], r[1], { text: r[2], class: "left" }]))), grid);
  }
  page.show(page.data.ceilings.map(section));
})();
