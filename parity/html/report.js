"use strict";
(function () {
  const report = JSON.parse(document.getElementById("report").textContent);
  const models = report.models || [report];
  const root = document.documentElement;
  const charts = [];
  const palette = ["#2563eb", "#ea580c", "#16a34a", "#9333ea", "#0891b2", "#be123c", "#65a30d"];

  // --- small helpers -------------------------------------------------------------------------------
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
  function megabytes(bytes) { return (bytes / 1e6).toFixed(1); }
  const goodVerdicts = new Set(["agrees", "branched", "within budget"]);
  const warnVerdicts = new Set(["branched", "unsupported"]);
  function badge(verdict) {
    const kind = goodVerdicts.has(verdict) ? "good" : warnVerdicts.has(verdict) ? "warn" : "bad";
    return make("span", { class: "badge " + kind }, verdict);
  }
  function table(heads, rows, options) {
    options = options || {};
    const left = options.left || 1;
    const side = (i) => (i < left ? "left" : "");
    const head = make("tr", {}, ...heads.map((h, i) => make("th", { class: side(i) }, h)));
    const body = make("tbody");
    for (const row of rows) {
      const line = make("tr", { class: row.className || "" });
      row.cells.forEach((cell, i) => {
        const td = make("td", { class: side(i) }, cell.node || cell.text || cell);
        if (cell.key !== undefined) td.dataset.key = cell.key;
        line.append(td);
      });
      body.append(line);
    }
    const result = make("table", { class: options.sortable ? "sortable" : "" },
      make("thead", {}, head), body);
    if (options.sortable) {
      head.querySelectorAll("th").forEach((th, column) => {
        let direction = -1;
        th.addEventListener("click", () => {
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
        });
      });
    }
    return result;
  }

  // --- charts --------------------------------------------------------------------------------------
  function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function axis(title, type, extra) {
    return Object.assign({ type: type || "linear", title: { display: true, text: title } }, extra || {});
  }
  function chart(title, note, config) {
    const canvas = make("canvas");
    const card = make("div", { class: "card" }, make("h3", {}, title),
      make("p", { class: "soft small" }, note), make("div", { class: "chart" }, canvas));
    charts.push({ canvas, config });
    return card;
  }
  function drawCharts() {
    for (const entry of charts) {
      if (entry.chart) entry.chart.destroy();
      const config = entry.config();
      config.options = Object.assign({
        responsive: true, maintainAspectRatio: false, animation: false,
        color: colour("--ink"),
      }, config.options);
      for (const scale of Object.values(config.options.scales || {})) {
        scale.ticks = Object.assign({ color: colour("--soft") }, scale.ticks);
        scale.grid = { color: colour("--line") };
        if (scale.title) scale.title.color = colour("--soft");
      }
      config.options.plugins = Object.assign({
        legend: { labels: { color: colour("--ink"), boxWidth: 14 } },
      }, config.options.plugins);
      entry.chart = new Chart(entry.canvas, config);
    }
  }
  function latencyChart(participants) {
    const measured = participants.filter((p) => p.performance && p.performance.quantiles_ms);
    if (measured.length === 0) return null;
    return chart("Latency", "Share of runs that took no longer than this; steep is steady.", () => ({
      type: "line",
      data: {
        datasets: measured.map((p, i) => ({
          label: p.spec, borderColor: palette[i % palette.length], pointRadius: 0, borderWidth: 2,
          data: p.performance.quantiles_ms.map((ms, k, all) => ({ x: ms, y: 100 * k / (all.length - 1) })),
        })),
      },
      options: { scales: { x: axis("ms per run", "logarithmic"), y: axis("% of runs", "linear", { min: 0, max: 100 }) } },
    }));
  }
  function depthChart(participants) {
    const stepped = participants.filter((p) => (p.steps || []).some((s) => s.verdict));
    if (stepped.length === 0) return null;
    const floor = 1e-4;
    return chart("Error through depth",
      "Each step's own error in units of its rounding budget; above 1 it is not honest rounding.", () => ({
        type: "line",
        data: {
          datasets: stepped.map((p, i) => ({
            label: p.spec, borderColor: palette[i % palette.length], backgroundColor: palette[i % palette.length],
            showLine: false, pointRadius: 2.5,
            data: p.steps.map((s, k) => ({ s, k })).filter((e) => e.s.verdict).map((e) => ({
              x: e.k, y: Math.max(Number.isFinite(value(e.s.worst_budget)) ? value(e.s.worst_budget) : 1e6, floor),
              name: e.s.name || e.s.op })),
          })).concat([{
            label: "budget", borderColor: colour("--bad"), borderDash: [6, 4], pointRadius: 0, borderWidth: 1.5,
            data: [{ x: 0, y: 1 }, { x: Math.max(...stepped.map((p) => p.steps.length)), y: 1 }],
          }]),
        },
        options: {
          scales: { x: axis("step"), y: axis("error / budget", "logarithmic", { min: floor }) },
          plugins: { tooltip: { callbacks: { label: (c) => (c.raw.name || "") + ": " + number(c.raw.y) } } },
        },
      }));
  }
  function timeChart(participant) {
    const steps = participant.steps || [];
    if (steps.length === 0) return null;
    const byKernel = new Map();
    for (const s of steps) byKernel.set(s.kernel, (byKernel.get(s.kernel) || 0) + s.ms);
    const rows = Array.from(byKernel).sort((a, b) => b[1] - a[1]).slice(0, 10);
    return chart("Time by kernel, " + participant.spec, "Medians, all steps of a kernel together.", () => ({
      type: "bar",
      data: { labels: rows.map((r) => r[0]), datasets: [{ label: "ms", data: rows.map((r) => r[1]), backgroundColor: palette[0] }] },
      options: { indexAxis: "y", plugins: { legend: { display: false } }, scales: { x: axis("ms"), y: { type: "category" } } },
    }));
  }

  // --- sections ------------------------------------------------------------------------------------
  function participantsTable(one) {
    return table(["participant", "verdict", "device", "precision", "fell back"], one.participants.map((p) => ({
      cells: [p.spec, { node: badge(p.verdict) }, p.device + (p.driver ? ", " + p.driver : ""), p.precision || "–",
        String((p.fallback || []).filter((f) => !f.by_nature).length)],
    })), { left: 4 });
  }
  function outputsTable(one) {
    const rows = [];
    for (const p of one.participants) {
      for (const o of p.outputs) {
        rows.push({
          className: o.verdict === "agrees" ? "" : "over",
          cells: [o.name, p.spec, { node: badge(o.verdict) }, number(o.max_abs), number(o.max_ulp), number(o.snr_db),
            o.cosine === undefined ? "–" : value(o.cosine).toFixed(7), o.top1 === undefined ? "–" : (100 * o.top1).toFixed(1) + " %",
            number(o.rms_error), o.expected_rms === undefined ? "–" : number(o.expected_rms)],
        });
      }
    }
    return rows.length === 0 ? null : table(["output", "by", "verdict", "max abs", "max ulp", "SNR dB", "cosine", "top-1",
      "rms error", "rms expected"], rows, { left: 3 });
  }
  function performanceTable(one) {
    const rows = one.participants.filter((p) => p.performance && p.performance.runs > 0);
    if (rows.length === 0) return null;
    const best = Math.min(...rows.map((p) => p.performance.latency_ms.median));
    return table(["participant", "median ms", "p10", "p90", "× best", "load", "compile", "plan", "first run", "peak MB", "runs"],
      rows.map((p) => {
        const f = p.performance;
        return { cells: [p.spec, milliseconds(f.latency_ms.median), milliseconds(f.latency_ms.p10), milliseconds(f.latency_ms.p90),
          (f.latency_ms.median / best).toFixed(2), milliseconds(f.load_ms), milliseconds(f.compile_ms), milliseconds(f.plan_ms),
          milliseconds(f.first_run_ms), megabytes(f.peak_bytes), String(f.runs)] };
      }));
  }
  function stepsSection(p) {
    const steps = p.steps || [];
    if (steps.length === 0) return null;
    const judged = steps.filter((s) => s.verdict);
    const over = judged.filter((s) => s.verdict !== "within budget");
    const rows = steps.map((s, i) => ({
      className: s.verdict && s.verdict !== "within budget" ? "over" : "",
      cells: [{ text: String(i), key: i }, s.op, s.name || (s.members || [])[0] || "", s.kernel,
        s.verdict ? { node: badge(s.verdict) } : "not judged",
        { text: s.verdict ? number(s.worst_budget) : "–", key: s.verdict && Number.isFinite(value(s.worst_budget)) ? value(s.worst_budget) : s.verdict ? 1e300 : -1 },
        { text: s.verdict ? number(s.max_ulp) : "–", key: s.verdict ? value(s.max_ulp) : -1 },
        { text: milliseconds(s.ms), key: s.ms },
        { text: s.flops > 0 && s.ms > 0 ? (s.flops / s.ms / 1e6).toFixed(1) : "–", key: s.ms > 0 ? s.flops / s.ms : 0 },
        { text: s.bytes > 0 && s.ms > 0 ? (s.bytes / s.ms / 1e6).toFixed(1) : "–", key: s.ms > 0 ? s.bytes / s.ms : 0 },
        (s.outputs || []).join(" ")],
    }));
    const fault = over[0];
    return make("details", over.length > 0 ? { open: "" } : {},
      make("summary", {}, p.spec + ": " + steps.length + " steps, " + judged.length + " judged, " + over.length + " not within budget"),
      fault ? make("p", {}, "First: ", make("span", { class: "mono" }, fault.op + " " + fault.name), " with kernel " + fault.kernel +
        ", element " + (fault.worst ? fault.worst.index : "?") + " is " + (fault.worst ? number(fault.worst.value) + " where the oracle has " +
        number(fault.worst.reference) : "?") + ". It stands for " + (fault.members || []).join(", ") + ".") : null,
      make("div", { class: "steps" }, table(["step", "operator", "node", "kernel", "verdict", "error / budget", "max ulp", "ms",
        "GFLOP/s", "GB/s", "outputs"], rows, { left: 5, sortable: true })));
  }
  function problems(one) {
    const list = make("div");
    for (const p of one.participants) {
      if (p.error) list.append(make("p", {}, make("strong", {}, p.spec + ": "), p.error.message, p.error.hint ? " (" + p.error.hint + ")" : ""));
      if (p.taps_changed_outputs) list.append(make("p", {}, make("strong", {}, p.spec + ": "), "watching its steps changed its outputs."));
      if (p.repeats && p.repeats.differ > 0) {
        list.append(make("p", {}, make("strong", {}, p.spec + ": "), p.repeats.differ + " of " + p.repeats.runs + " repeated runs differ in some bit."));
      }
      for (const o of p.outputs) {
        if (o.verdict !== "agrees" && o.note) list.append(make("p", {}, make("strong", {}, p.spec + ", " + o.name + ": "), o.note));
      }
      const fell = (p.fallback || []).filter((f) => !f.by_nature);
      if (fell.length > 0) {
        list.append(make("details", {}, make("summary", {}, p.spec + ": " + fell.length + " nodes ran on the CPU instead"),
          ...fell.map((f) => make("p", { class: "small" }, f.node + " (" + f.op + "): " + f.reason))));
      }
    }
    return list.childNodes.length > 0 ? make("div", { class: "card" }, list) : null;
  }
  function card(title, content) {
    return content ? make("div", { class: "card" }, title ? make("h3", {}, title) : null, content) : null;
  }
  function caseSection(one) {
    const parts = [
      make("h3", {}, one.label),
      make("p", { class: "soft small" }, (one.data ? one.data + "; " : "") + "compared with the " + one.reference),
      card(null, participantsTable(one)), problems(one), card("Outputs", outputsTable(one)), card("Performance", performanceTable(one))];
    const grid = make("div", { class: "grid" });
    for (const c of [latencyChart(one.participants), depthChart(one.participants), ...one.participants.map(timeChart)]) {
      if (c) grid.append(c);
    }
    if (grid.childNodes.length > 0) parts.push(grid);
    const steps = one.participants.map(stepsSection).filter((s) => s);
    if (steps.length > 0) parts.push(make("div", { class: "card" }, make("h3", {}, "Steps"), ...steps));
    return make("section", {}, ...parts);
  }

  // --- page ----------------------------------------------------------------------------------------
  const main = document.getElementById("models");
  for (const m of models) {
    main.append(make("h2", {}, m.model.path, " ", badge(m.verdict)));
    const opsets = Object.entries(m.model.opsets || {}).map(([d, v]) => d + " " + v).join(", ");
    main.append(make("p", { class: "soft small" }, [m.model.producer, opsets && "opsets " + opsets].filter((t) => t).join("; ")));
    if (m.model.sha256) main.append(make("p", { class: "soft mono" }, "sha256 " + m.model.sha256));
    if (m.error) main.append(card(null, make("p", {}, m.error.message + (m.error.hint ? " (" + m.error.hint + ")" : ""))));
    for (const one of m.cases) main.append(caseSection(one));
  }
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    drawCharts();
  });
  drawCharts();
  root.dataset.rendered = "yes";
})();
