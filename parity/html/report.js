"use strict";
// The parity report.
(function () {
  const { make, card, value, number, milliseconds, unit, percent, table, colour, series, axis, chart, decades, leading } = page;
  const report = page.data;
  const models = report.models || [report];

  function megabytes(bytes) { return (bytes / 1e6).toFixed(1); }
  const goodVerdicts = new Set(["agrees", "branched", "within budget", "same", "better"]);
  const warnVerdicts = new Set(["branched", "unsupported", "inconclusive", "not comparable"]);
  function badge(verdict) {
    const kind = goodVerdicts.has(verdict) ? "good" : warnVerdicts.has(verdict) ? "warn" : "bad";
    return make("span", { class: "badge " + kind }, verdict);
  }
  function fellBack(p) { return (p.fallback || []).filter((f) => !f.by_nature); }
  // How far the output that is furthest off is, in units of the noise that rounding makes.
  function worstRatio(p) {
    return Math.max(0, ...p.outputs.filter((o) => value(o.expected_rms) > 0)
      .map((o) => value(o.rms_error) / value(o.expected_rms)));
  }

  // --- charts --------------------------------------------------------------------------------------
  function latencyChart(participants) {
    const measured = participants.filter((p) => p.performance && p.performance.quantiles_ms);
    if (measured.length === 0) return null;
    // A few runs that the machine disturbed would make all others one line.
    const runs = measured.map((p) => p.performance.quantiles_ms);
    const from = 0.9 * Math.min(...runs.map((q) => q[0]));
    const to = 1.1 * Math.max(...runs.map((q) => q[q.length - 2]));
    return chart("Latency", "Share of runs that took no longer than this. Steep is steady; further left is faster.", () => ({
      type: "line",
      data: {
        datasets: measured.map((p, i) => ({
          label: p.spec, borderColor: series(i), backgroundColor: series(i), pointRadius: 0, borderWidth: 2,
          data: p.performance.quantiles_ms.map((ms, k, all) => ({ x: ms, y: 100 * k / (all.length - 1) })),
        })),
      },
      options: {
        scales: {
          x: axis("ms per run", to > 5 * from ? "logarithmic" : "linear", { min: from, max: to,
            ticks: to > 5 * from ? leading() : {
              maxRotation: 0, autoSkipPadding: 14, includeBounds: false, callback: (v) => String(Number(v.toPrecision(3))) } }),
          y: axis("% of runs", "linear", { min: 0, max: 100 }),
        },
      },
    }));
  }
  function depthChart(participants) {
    const stepped = participants.filter((p) => (p.steps || []).some((s) => s.verdict));
    if (stepped.length === 0) return null;
    const floor = 1e-4;
    const height = (s) => {
      const v = value(s.worst_budget);
      return Math.max(Number.isFinite(v) ? v : 1e6, floor);
    };
    return chart("Error through depth",
      "Each step's own error in units of its rounding budget: above the line it is not honest rounding, at the foot there is none.", () => ({
        type: "line",
        data: {
          datasets: stepped.map((p, i) => ({
            label: p.spec, borderColor: series(i), backgroundColor: series(i), showLine: false, pointRadius: 2.5,
            data: p.steps.map((s, k) => ({ s, k })).filter((e) => e.s.verdict)
              .map((e) => ({ x: e.k, y: height(e.s), name: e.s.op + " " + (e.s.name || "") })),
          })).concat([{
            label: "budget", borderColor: colour("--bad"), backgroundColor: colour("--bad"), borderDash: [6, 4],
            pointRadius: 0, borderWidth: 1.5,
            data: [{ x: 0, y: 1 }, { x: Math.max(1, ...stepped.map((p) => p.steps.length - 1)), y: 1 }],
          }]),
        },
        options: {
          scales: {
            x: axis("step"),
            y: axis("error / budget", "logarithmic", { min: floor, suggestedMax: 10, ticks: decades("") }),
          },
          plugins: { tooltip: { callbacks: { label: (c) => (c.raw.name || "budget") + ": " + number(c.raw.y) } } },
        },
      }));
  }
  // Steps under the ceilings of the first device that has any: arithmetic intensity against throughput.
  function rooflineChart(participants) {
    const placed = participants.filter((p) => p.performance && p.performance.roofline &&
      (p.steps || []).some((s) => s.flops > 0 && s.bytes > 0 && s.ms > 0));
    if (placed.length === 0) return null;
    const points = (p) => p.steps.filter((s) => s.flops > 0 && s.bytes > 0 && s.ms > 0 && s.bound !== "none").map((s) => ({
      x: s.flops / s.bytes, y: s.flops / s.ms * 1e3, name: s.op + " " + (s.name || "") + ", " + s.kernel, ms: s.ms }));
    const roof = (p, i) => {
      const c = p.performance.roofline.ceilings;
      const peak = Math.max(0, ...c.matmuls.filter((m) => m.precision === "float32").map((m) => m.flop_per_s)) ||
        Math.max(0, ...c.matmuls.map((m) => m.flop_per_s));
      const copy = c.copies.length > 0 ? c.copies[c.copies.length - 1].bytes_per_s : 0;
      if (!(peak > 0 && copy > 0)) return null;
      const all = placed.flatMap(points).map((q) => q.x);
      const from = Math.min(...all, peak / copy / 4), to = Math.max(...all, 4 * peak / copy);
      return { label: p.spec + " ceiling", borderColor: series(i), backgroundColor: series(i), showLine: true, pointRadius: 0,
        borderWidth: 1.5, borderDash: [6, 4],
        data: [{ x: from, y: from * copy }, { x: peak / copy, y: peak }, { x: to, y: peak }] };
    };
    return chart("Roofline",
      "Each step by what it computes per byte. On the slope it is bound by memory, under the flat by arithmetic; " +
      "far below either, time is lost. Steps in cache may lie above the slope, which is main memory's.", () => ({
        type: "scatter",
        data: { datasets: placed.map((p, i) => ({ label: p.spec, data: points(p), borderColor: series(i),
          backgroundColor: series(i), pointRadius: 3 })).concat(placed.map(roof).filter((r) => r)) },
        options: {
          scales: { x: axis("FLOP per byte", "logarithmic", { ticks: decades("") }),
            y: axis("FLOP/s", "logarithmic", { ticks: decades("") }) },
          plugins: { tooltip: { callbacks: { label: (c) => (c.raw.name ? c.raw.name + ": " + unit(c.raw.y, "FLOP/s") +
            ", " + milliseconds(c.raw.ms) + " ms" : unit(c.raw.y, "FLOP/s")) } } },
        },
      }));
  }
  // Kernels' time, split into what the ceilings allow and what is lost.
  function timeChart(p) {
    const kernels = p.performance && p.performance.roofline ? p.performance.roofline.kernels : null;
    let rows = [];
    if (kernels) {
      rows = kernels.map((k) => ({ name: k.kernel, lower: k.lower_ms, lost: k.ms - k.lower_ms }));
    } else {
      const byKernel = new Map();
      for (const s of p.steps || []) byKernel.set(s.kernel, (byKernel.get(s.kernel) || 0) + s.ms);
      rows = Array.from(byKernel).map(([name, ms]) => ({ name, lower: ms, lost: 0 }));
    }
    rows = rows.filter((r) => r.lower + r.lost > 0).sort((a, b) => b.lower + b.lost - a.lower - a.lost).slice(0, 10);
    if (rows.length === 0) return null;
    return chart("Time by kernel, " + p.spec,
      kernels ? "All steps of a kernel together: what the device's ceilings allow, and what is lost beyond." : "Medians, all steps of a kernel together.",
      () => ({
        type: "bar",
        data: {
          labels: rows.map((r) => (r.name.length > 34 ? r.name.slice(0, 33) + "…" : r.name)),
          datasets: [{ label: kernels ? "at the ceiling" : "ms", data: rows.map((r) => r.lower), backgroundColor: series(0) }]
            .concat(kernels ? [{ label: "lost", data: rows.map((r) => r.lost), backgroundColor: series(1) }] : []),
        },
        options: { indexAxis: "y", scales: { x: axis("ms", "linear", { stacked: true }), y: { type: "category", stacked: true } } },
      }));
  }

  // --- tables --------------------------------------------------------------------------------------
  function participantsTable(one) {
    return table(["participant", "verdict", "device", "precision", "error / expected", "median ms", "nodes fallen back"],
      one.participants.map((p) => [
        p.spec, { node: badge(p.verdict) }, p.device + (p.driver ? ", " + p.driver : ""), p.precision || "–",
        p.outputs.length > 0 ? number(worstRatio(p)) : "–",
        p.performance && p.performance.runs > 0 ? milliseconds(p.performance.latency_ms.median) : "–",
        String(fellBack(p).length)]), { left: 4 });
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
  // Who agrees with whom: the same letter gives the same bits.
  function agreementTable(one) {
    const a = one.agreement;
    if (!a || a.participants.length < 2) return null;
    const pair = (x, y) => a.pairs.find((p) => (p.a === x && p.b === y) || (p.a === y && p.b === x));
    const letter = (i) => String.fromCharCode(65 + i);
    return table(["participant", "bits"].concat(a.participants.map((p) => p.spec)), a.participants.map((row, i) => [
      row.spec, letter(row.class)].concat(a.participants.map((column, k) => {
      if (i === k) return "";
      const p = pair(row.spec, column.spec);
      if (!p) return "";
      if (p.identical) return { text: "same bits", class: "fine" };
      if (p.ratio === undefined) return "not judged";
      return { text: number(p.ratio), class: value(p.ratio) <= 1 ? "fine" : "poor" };
    }))), { left: 2 });
  }
  function performanceTable(one) {
    const rows = one.participants.filter((p) => p.performance && p.performance.runs > 0);
    if (rows.length === 0) return null;
    return table(["participant", "median ms", "p10", "p90", "× first (95 %)", "", "transfers", "load", "compile", "plan", "first run",
      "peak MB", "runs"], rows.map((p) => {
      const f = p.performance;
      const r = f.against_first;
      return [p.spec, { text: milliseconds(f.latency_ms.median), class: "strong" }, milliseconds(f.latency_ms.p10),
        milliseconds(f.latency_ms.p90),
        r ? r.median.toFixed(2) + " (" + r.low.toFixed(2) + "–" + r.high.toFixed(2) + ")" : "1", r ? r.call : "",
        f.transfer_ms > 0 ? milliseconds(f.transfer_ms) : "–", milliseconds(f.load_ms), milliseconds(f.compile_ms),
        milliseconds(f.plan_ms), milliseconds(f.first_run_ms), megabytes(f.peak_bytes), String(f.runs)];
    }), { dense: true });
  }
  function noiseText(one) {
    const n = one.noise;
    if (!n || !n.twins) return "Times in ms, in interleaved rounds.";
    return "Times in ms, in interleaved rounds. A second process of " + n.spec + " took " + n.twins.median.toFixed(2) + " (" +
      n.twins.low.toFixed(2) + "–" + n.twins.high.toFixed(2) + ") times as long: ratios up to " + n.floor.toFixed(2) +
      " are noise, and inconclusive.";
  }
  // "Could be 3.1 ms, is 4.0 ms": where the rest goes.
  function budgetOfTime(p) {
    const r = p.performance && p.performance.roofline;
    if (!r) return null;
    const share = (ms) => percent(r.run_ms > 0 ? ms / r.run_ms : 0);
    const saved = r.unfused_bytes > 0 ? ", " + unit(r.unfused_bytes, "B") + " without fusion" : "";
    const rows = r.kernels.slice(0, 12).map((k) => [k.kernel, k.bound, String(k.steps), milliseconds(k.ms),
      milliseconds(k.lower_ms), milliseconds(k.ms - k.lower_ms), percent(k.ms > 0 ? k.lower_ms / k.ms : 0),
      unit(k.flops / Math.max(k.ms, 1e-9) * 1e3, "FLOP/s"), unit(k.bytes / Math.max(k.ms, 1e-9) * 1e3, "B/s")]);
    return make("details", { open: "" },
      make("summary", {}, make("strong", {}, p.spec + ": could be " + milliseconds(r.lower_ms) + " ms, is " +
        milliseconds(r.run_ms) + " ms")),
      make("p", { class: "small" }, "Steps " + milliseconds(r.steps_ms) + " ms (bound by arithmetic " +
        share(r.bound_ms.arithmetic) + " of the run, by memory " + share(r.bound_ms.memory) + ", by overhead " +
        share(r.bound_ms.overhead) + "), transfers " + milliseconds(r.transfer_ms) + " ms, the rest " +
        milliseconds(r.outside_ms) + " ms. Moved: " + unit(r.moved_bytes, "B") + saved + "."),
      make("div", { class: "scroll" }, table(["kernel", "bound by", "steps", "ms", "at the ceiling", "lost", "of ceiling", "FLOP/s", "B/s"], rows, { left: 2 })));
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
        { text: s.verdict ? number(s.worst_budget) : "–",
          key: s.verdict ? (Number.isFinite(value(s.worst_budget)) ? value(s.worst_budget) : 1e300) : -1 },
        { text: s.verdict ? number(s.max_ulp) : "–", key: s.verdict ? value(s.max_ulp) : -1 },
        { text: milliseconds(s.ms), key: s.ms },
        s.bound && s.bound !== "none" ? s.bound : "–",
        { text: s.lower_ms && s.ms > 0 ? percent(s.lower_ms / s.ms) : "–", key: s.lower_ms && s.ms > 0 ? s.lower_ms / s.ms : -1 },
        { text: unit(s.ms > 0 ? s.flops / s.ms * 1e3 : 0, "FLOP/s"), key: s.ms > 0 ? s.flops / s.ms : 0 },
        { text: unit(s.ms > 0 ? s.bytes / s.ms * 1e3 : 0, "B/s"), key: s.ms > 0 ? s.bytes / s.ms : 0 },
        (s.outputs || []).join(" ")],
    }));
    const fault = over[0];
    const story = fault ? make("p", {}, "First: ", make("span", { class: "mono" }, fault.op + " " + fault.name), " with kernel " +
      fault.kernel + ", element " + (fault.worst ? fault.worst.index : "?") + " is " +
      (fault.worst ? number(fault.worst.value) + " where the oracle has " + number(fault.worst.reference) : "?") +
      ". It stands for " + (fault.members || []).join(", ") + ".") : null;
    return make("details", over.length > 0 ? { open: "" } : {},
      make("summary", {}, p.spec + ": " + steps.length + " steps, " + judged.length + " judged, " +
        (over.length === 0 ? "all within budget" : over.length + " not within budget")),
      story,
      make("div", { class: "steps" }, table(["step", "operator", "node", "kernel", "verdict", "error / budget", "max ulp", "ms",
        "bound by", "of ceiling", "FLOP/s", "B/s", "outputs"], rows, { left: 5, sortable: true })));
  }
  function problems(one) {
    const list = make("div");
    const tell = (who, text) => list.append(make("p", {}, make("strong", {}, who + ": "), text));
    if (one.measuring_error) tell("not measured", one.measuring_error);
    for (const p of one.participants) {
      if (p.error) tell(p.spec, p.error.message + (p.error.hint ? " (" + p.error.hint + ")" : ""));
      if (p.taps_changed_outputs) tell(p.spec, "watching its steps changed its outputs.");
      if (p.repeats && p.repeats.differ > 0) tell(p.spec, p.repeats.differ + " of " + p.repeats.runs + " repeated runs differ in some bit.");
      for (const o of p.outputs) if (o.verdict !== "agrees" && o.note) tell(p.spec + ", " + o.name, o.note);
      const fell = fellBack(p);
      if (fell.length > 0) {
        list.append(make("details", {}, make("summary", {}, p.spec + ": " + fell.length + " nodes ran on the CPU instead"),
          ...fell.map((f) => make("p", { class: "small" }, f.node + " (" + f.op + "): " + f.reason))));
      }
    }
    return list.childNodes.length > 0 ? make("div", { class: "card" }, list) : null;
  }
  // Participants by cases: verdict and time.
  function matrix(model) {
    if (model.cases.length < 2) return null;
    const specs = [];
    for (const one of model.cases) for (const p of one.participants) if (!specs.includes(p.spec)) specs.push(p.spec);
    return table(["case"].concat(specs), model.cases.map((one) => [one.label].concat(specs.map((spec) => {
      const p = one.participants.find((q) => q.spec === spec);
      if (!p) return "";
      const time = p.performance && p.performance.runs > 0 ? " " + milliseconds(p.performance.latency_ms.median) + " ms" : "";
      return { node: make("span", {}, badge(p.verdict), time) };
    }))));
  }
  function baseline() {
    const b = report.baseline;
    if (!b) return null;
    return card("Against the baseline of " + b.date, table(["participant", "case", "", "", "found"], b.findings.map((f) => ({
      className: f.change === "worse" ? "over" : "",
      cells: [f.spec, f.case, f.subject, { node: badge(f.change) }, f.text] })), { left: 5 }), b.path);
  }

  // --- page ----------------------------------------------------------------------------------------
  function caseSection(one) {
    const grid = make("div", { class: "grid" });
    for (const c of [latencyChart(one.participants), depthChart(one.participants), rooflineChart(one.participants),
      ...one.participants.map(timeChart)]) {
      if (c) grid.append(c);
    }
    const steps = one.participants.map(stepsSection).filter((s) => s);
    const times = one.participants.map(budgetOfTime).filter((s) => s);
    return make("section", {},
      make("h3", { class: "case" }, one.label),
      make("p", { class: "soft small" }, (one.data ? one.data + "; " : "") + "compared with the " + one.reference),
      card(null, participantsTable(one)), problems(one), card("Outputs", outputsTable(one)),
      card("Who agrees with whom", agreementTable(one), "Rms difference of two participants by what rounding on both sides explains: " +
        "up to 1 is within budget. Participants of one letter give the same bits."),
      card("Performance", performanceTable(one), noiseText(one)),
      grid.childNodes.length > 0 ? grid : null,
      times.length > 0 ? card("Where the time goes", make("div", {}, ...times)) : null,
      steps.length > 0 ? card("Steps", make("div", {}, ...steps)) : null);
  }
  function modelSection(m) {
    const opsets = Object.entries(m.model.opsets || {}).map(([d, v]) => d + " " + v).join(", ");
    return make("section", {},
      make("h2", {}, m.model.path, " ", badge(m.verdict)),
      make("p", { class: "soft small" }, [m.model.producer, opsets && "opsets " + opsets].filter((t) => t).join("; ")),
      m.model.sha256 ? make("p", { class: "soft mono" }, "sha256 " + m.model.sha256) : null,
      m.error ? card(null, make("p", {}, m.error.message + (m.error.hint ? " (" + m.error.hint + ")" : ""))) : null,
      card("All cases", matrix(m)), ...m.cases.map(caseSection));
  }
  page.show([baseline(), ...models.map(modelSection)]);
})();
