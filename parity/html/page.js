"use strict";
// What the pages share: elements, numbers, tables that sort, charts that follow light and dark.
const page = (function () {
  const root = document.documentElement;
  const charts = [];
  const palettes = {
    light: ["#2563eb", "#ea580c", "#15803d", "#9333ea", "#0891b2", "#be123c", "#a16207"],
    dark: ["#60a5fa", "#fb923c", "#4ade80", "#c084fc", "#22d3ee", "#fb7185", "#facc15"],
  };
  const data = JSON.parse(document.getElementById("data").textContent);

  // --- elements ------------------------------------------------------------------------------------
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") element.className = value;
      else element.setAttribute(name, value);
    }
    for (const child of children) {
      if (child === null || child === undefined) continue;
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
  }
  function card(title, content, note) {
    if (!content) return null;
    return make("div", { class: "card" }, title ? make("h3", {}, title) : null,
      note ? make("p", { class: "soft small" }, note) : null, content);
  }

  // --- numbers -------------------------------------------------------------------------------------
  // JSON has no infinity: the report writes it as text.
  function value(v) {
    if (v === "inf") return Infinity;
    if (v === "-inf") return -Infinity;
    if (v === "nan") return NaN;
    return v;
  }
  function number(raw) {
    const v = value(raw);
    if (v === null || v === undefined) return "–";
    if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v > 0 ? "∞" : "−∞";
    if (v === 0) return "0";
    const size = Math.abs(v);
    if (size < 1e-3 || size >= 1e5) return v.toExponential(2);
    return String(Number(v.toPrecision(4)));
  }
  function milliseconds(v) {
    if (v === undefined || v === null) return "–";
    return v < 10 ? v.toFixed(3) : v < 100 ? v.toFixed(2) : v.toFixed(1);
  }
  function unit(v, name) {
    if (!(v > 0)) return "–";
    const prefixes = ["", "k", "M", "G", "T", "P"];
    let at = 0;
    while (v >= 999.5 && at + 1 < prefixes.length) { v /= 1000; ++at; }
    return (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)) + " " + prefixes[at] + name;
  }
  function percent(share) { return (100 * share).toFixed(0) + " %"; }

  // --- tables --------------------------------------------------------------------------------------
  // A cell is text, or {text or node, key to sort by, class}.
  function table(heads, rows, options) {
    options = options || {};
    const left = options.left === undefined ? 1 : options.left;
    const side = (i) => (i < left ? "left" : "");
    const head = make("tr", {}, ...heads.map((h, i) => make("th", { class: side(i), scope: "col" }, h)));
    const body = make("tbody");
    for (const row of rows) {
      const line = make("tr", { class: row.className || "" });
      (row.cells || row).forEach((cell, i) => {
        const whole = cell !== null && typeof cell === "object" && !(cell instanceof Node);
        const td = make("td", { class: side(i) + (whole && cell.class ? " " + cell.class : "") },
          whole ? cell.node || cell.text : cell);
        if (whole && cell.key !== undefined) td.dataset.key = cell.key;
        line.append(td);
      });
      body.append(line);
    }
    if (options.sortable) head.querySelectorAll("th").forEach((th, i) => sortable(th, i, body));
    return make("table", { class: (options.sortable ? "sortable " : "") + (options.dense ? "dense" : "") }, make("thead", {}, head), body);
  }
  function sortable(th, column, body) {
    let direction = -1;
    const sort = () => {
      direction = -direction;
      const key = (tr) => {
        const td = tr.children[column];
        return td.dataset.key !== undefined ? Number(td.dataset.key) : td.textContent;
      };
      const lines = Array.from(body.children);
      lines.sort((a, b) => {
        const x = key(a), y = key(b);
        return direction * (typeof x === "number" && typeof y === "number" ? x - y
          : String(x).localeCompare(String(y)));
      });
      body.append(...lines);
      for (const other of th.parentNode.children) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    };
    th.tabIndex = 0;
    th.addEventListener("click", sort);
    th.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  }

  // --- charts --------------------------------------------------------------------------------------
  function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function series(i) {
    const palette = palettes[root.dataset.theme] || palettes.light;
    return palette[i % palette.length];
  }
  function axis(title, type, extra) {
    return Object.assign({ type: type || "linear", title: { display: true, text: title } }, extra || {});
  }
  // `config` makes the configuration anew each time, with the colours of the moment.
  function chart(title, note, config, tall) {
    const canvas = make("canvas", { role: "img", "aria-label": title });
    charts.push({ canvas, config, title });
    return make("div", { class: "card" }, make("h3", {}, title), make("p", { class: "soft small" }, note),
      make("div", { class: tall ? "chart tall" : "chart" }, canvas));
  }
  // Ticks at powers of ten, with a prefix of a thousand.
  function decades(name) {
    return {
      maxRotation: 0,
      callback: (v) => (Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6
        ? (v >= 1 ? unit(v, name || "").replace(".00", "").replace(".0", "").trim() : String(Number(v.toPrecision(1)))) : ""),
    };
  }
  // Ticks at 1, 2 and 5 times powers of ten.
  function leading() {
    return {
      maxRotation: 0,
      callback: (v) => ([1, 2, 5].includes(Number((v / 10 ** Math.floor(Math.log10(v) + 1e-9)).toFixed(6)))
        ? String(Number(v.toPrecision(3))) : ""),
    };
  }
  // What the legend shows of a data set: a line where it is one, else its points or bars.
  function mark(set, type) {
    if (type === "bar") return "rect";
    return set.borderDash || (type === "line" && set.pointRadius === 0) ? "line" : "circle";
  }
  function drawCharts() {
    for (const entry of charts) {
      if (entry.chart) entry.chart.destroy();
      const config = entry.config();
      config.options = Object.assign({
        responsive: true, maintainAspectRatio: false, animation: false, color: colour("--ink"),
      }, config.options);
      for (const scale of Object.values(config.options.scales || {})) {
        scale.ticks = Object.assign({ color: colour("--soft") }, scale.ticks);
        scale.grid = { color: colour("--line") };
        if (scale.title) scale.title.color = colour("--soft");
      }
      for (const set of config.data.datasets) set.pointStyle = mark(set, config.type);
      config.options.plugins = Object.assign({
        legend: { labels: { color: colour("--ink"), boxWidth: 20, boxHeight: 8, usePointStyle: true } },
      }, config.options.plugins);
      entry.chart = new Chart(entry.canvas, config);
    }
  }
  // A chart is empty if not one point of it lies on it: told to whoever tests the page.
  function emptyCharts() {
    return charts.filter((entry) => {
      const points = (entry.chart ? entry.chart.data.datasets : []).flatMap((set, i) =>
        entry.chart.getDatasetMeta(i).data.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)));
      return points.length === 0 || entry.canvas.width === 0 || entry.canvas.height === 0;
    }).map((entry) => entry.title);
  }

  // --- the page ------------------------------------------------------------------------------------
  // Called by the page's script with the elements that make it.
  function show(elements) {
    document.getElementById("content").append(...elements.filter((e) => e));
    const wanted = new URLSearchParams(location.search).get("theme") || location.hash.slice(1);
    const dark = wanted ? wanted === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "dark" : "light";
    document.getElementById("theme").addEventListener("click", () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
      drawCharts();
    });
    drawCharts();
    root.dataset.charts = charts.length;
    root.dataset.emptyCharts = emptyCharts().join("; ");
    root.dataset.rendered = "yes";
  }
  window.addEventListener("error", (event) => {
    root.dataset.scriptError = event.message + " at line " + event.lineno;
  });

  return { data, make, card, value, number, milliseconds, unit, percent, table, colour, series, axis,
    chart, decades, leading, show };
})();
