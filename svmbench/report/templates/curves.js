// Draws the curves of a sweep with uPlot: one data set and λ at a time, on axes that the reader chooses.
(() => {
  const section = document.getElementById("curves");
  const found = JSON.parse(section.querySelector("script").textContent);
  const form = section.querySelector("form");
  const frame = section.querySelector(".plot");
  const hidden = new Set();
  let plot = null;

  const choice = (name, words, options) => {
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.name = name;
    for (const [value, text] of options) select.add(new Option(text, value));
    label.append(words, " ", select);
    form.append(label);
    select.addEventListener("change", draw);
    return select;
  };
  const sets = choice("set", "data set", [...new Set(found.problems.map((each) => each.set))].map((set) => [set, set]));
  const lambdas = choice("lambda", "λ", [...new Set(found.problems.map((each) => each.lambda))].map((lam) => [lam, lam]));
  const along = choice("x", "along", Object.entries(found.x));
  const height = choice("y", "height", Object.entries(found.y));
  const scale = choice("scale", "scale", [["log", "logarithmic"], ["linear", "linear"]]);

  const plain = (size) => size === 0 || (size >= 1e-3 && size < 1e5);
  const written = (value) => (plain(Math.abs(value)) ? value.toString() : value.toExponential().replace("+", ""));
  const number = (value) => (value === null || value === undefined ? "–" : written(Number(value.toPrecision(3))));
  const labels = (_, values) => values.map((value) => (value === null ? "" : number(value)));

  function levels(u) {
    if (height.value !== "suboptimality") return;
    u.ctx.save();
    u.ctx.strokeStyle = "#999999";
    u.ctx.setLineDash([]);
    for (const level of found.accuracies) {
      const y = u.valToPos(level, "y", true);
      if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) continue;
      u.ctx.beginPath();
      u.ctx.moveTo(u.bbox.left, y);
      u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
      u.ctx.stroke();
    }
    u.ctx.restore();
  }

  function draw() {
    if (plot) plot.destroy();
    plot = null;
    frame.textContent = "";
    const problem = found.problems.find((each) => each.set === sets.value && each.lambda === lambdas.value);
    const curves = problem ? problem.curves[along.value][height.value] : {};
    const names = Object.keys(found.looks).filter((name) => Object.hasOwn(curves, name));
    if (!names.length) {
      frame.textContent = "No run has such a curve.";
      return;
    }
    const ink = getComputedStyle(document.body).color;
    const grid = { stroke: "#8884", width: 1 };
    const distr = scale.value === "log" ? 3 : 1;
    const near = (_, low, high) => [low / 1.2, high * 1.2];
    const range = distr === 3 ? { range: near } : {};
    const axis = (text) => ({ label: text, stroke: ink, grid, ticks: grid, values: labels, labelSize: 22, size: 56 });
    plot = new uPlot(
      {
        width: frame.clientWidth,
        height: 430,
        scales: { x: { time: false, distr, ...range }, y: { distr, ...range } },
        axes: [{ ...axis(found.x[along.value]), size: 36 }, axis(found.y[height.value])],
        legend: {
          markers: {
            width: 3,
            fill: "transparent",
            dash: (_, at) => {
              const dash = at ? found.looks[names[at - 1]][1] : [];
              return !dash.length ? "solid" : dash[0] > 5 ? "dashed" : "dotted";
            },
          },
        },
        series: [
          { label: along.value, value: (_, value) => number(value) },
          ...names.map((name) => ({
            label: name,
            stroke: found.looks[name][0],
            dash: found.looks[name][1],
            width: 2,
            show: !hidden.has(name),
            spanGaps: true,
            paths: uPlot.paths.stepped({ align: 1 }),
            points: { show: false },
            value: (_, value) => number(value),
          })),
        ],
        hooks: {
          draw: [levels],
          setSeries: [(u, at) => at && (u.series[at].show ? hidden.delete(names[at - 1]) : hidden.add(names[at - 1]))],
        },
      },
      uPlot.join(names.map((name) => curves[name])),
      frame,
    );
  }

  section.hidden = false;
  draw();
  addEventListener("resize", () => plot && plot.setSize({ width: frame.clientWidth, height: 430 }));
})();
