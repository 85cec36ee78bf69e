/// The parts of the page that `HTMLTraceWriter` writes. Its program and its style are the same in each page, so that the page's
/// policy can name their digests; a test says what these have to be after a change.
enum HTMLTracePage {
    static let styleDigest = "sha256-hNhNwFCxJmPAeypA5q0w0RpsP/nV/rX3ZywzUtk3p8I="
    static let scriptDigest = "sha256-C3qLf0fO+8ugJMkJqjli3LiiSFw27H7MYshOpQqRp4o="

    static let body = #"""
        <header>
        <label>Trace <select id="pick"></select></label>
        <label>Search <input id="search" type="search" placeholder="name or attribute"></label>
        <span><button id="in" title="Zoom in">+</button> <button id="out" title="Zoom out">−</button> <button id="all">All</button></span>
        <span><kbd>/</kbd> search <kbd>n</kbd> <kbd>p</kbd> matches <kbd>↑</kbd> <kbd>↓</kbd> spans <kbd>←</kbd> <kbd>→</kbd> fold
        <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> zoom <kbd>a</kbd> <kbd>d</kbd> move <kbd>[</kbd> <kbd>]</kbd> traces</span>
        <span id="note" role="status"></span>
        </header>
        <div id="main"><div id="view" role="tree" aria-label="Spans" tabindex="0"><div id="rows"></div></div><aside id="side"></aside></div>
        <noscript>This page shows its spans with JavaScript.</noscript>

        """#

    static let style = #"""

        :root{color-scheme:light dark;--line:#8884;--bar:#3b82f6;--bad:#dc2626;--hit:#f59e0b;--pick:#3b82f633}
        *{box-sizing:border-box}
        body{margin:0;font:13px/1.4 system-ui,sans-serif;height:100vh;display:flex;flex-direction:column}
        header{display:flex;gap:8px;align-items:center;flex-wrap:wrap;padding:6px 10px;border-bottom:1px solid var(--line)}
        header select{max-width:45vw}
        #note{margin-left:auto;opacity:.75}
        #main{flex:1;display:flex;min-height:0}
        #view{flex:1;overflow-y:auto;overflow-x:hidden;position:relative;outline-offset:-2px}
        #rows{position:relative}
        .row{position:absolute;left:0;right:0;height:22px;display:flex;border-bottom:1px solid #8881;cursor:default}
        .row.pick{background:var(--pick)}
        .name{width:38%;flex:none;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;padding:2px 6px}
        .row.hit .name{box-shadow:inset 3px 0 var(--hit)}
        .row.bad .name{color:var(--bad)}
        .lane{position:relative;flex:1;overflow:hidden}
        .bar{position:absolute;top:5px;height:12px;min-width:2px;background:var(--bar);border-radius:2px}
        .row.bad .bar{background:var(--bad)}
        .time{position:absolute;top:2px;font-size:11px;opacity:.8;white-space:nowrap;padding:0 4px}
        #side{width:34%;min-width:220px;overflow:auto;border-left:1px solid var(--line);padding:8px 10px}
        #side h2{font-size:14px;margin:0 0 6px;overflow-wrap:anywhere}
        #side table{border-collapse:collapse;width:100%;margin-bottom:8px}
        #side td{border-top:1px solid #8882;padding:2px 4px;vertical-align:top;overflow-wrap:anywhere;white-space:pre-wrap}
        #side td:first-child{opacity:.75;width:40%}
        kbd{border:1px solid var(--line);border-radius:3px;padding:0 3px;font-size:11px}

        """#

    static let script = #"""

        "use strict";
        const at = id => document.getElementById(id);
        const data = JSON.parse(at("data").textContent);
        const HEIGHT = 22;
        const make = (kind, name, text) => {
          const node = document.createElement(kind);
          if (name) node.className = name;
          if (text !== undefined) node.textContent = text;
          return node;
        };
        const length = ns =>
          ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(2) + " ms"
          : ns >= 1e3 ? (ns / 1e3).toFixed(1) + " µs" : ns + " ns";

        // A clock may be wrong by more than a date can say.
        const moment = us => {
          const date = new Date(us / 1000);
          return isNaN(date) ? us + " µs" : date.toISOString();
        };

        // The spans of each trace as a tree. One whose parent is not here, or that is its own ancestor, is at the top.
        const traces = new Map();
        for (const span of data.spans) {
          if (!traces.has(span.trace_id)) traces.set(span.trace_id, { spans: [], known: new Map() });
          const trace = traces.get(span.trace_id);
          span.children = [];
          trace.spans.push(span);
          trace.known.set(span.span_id, span);
        }
        for (const trace of traces.values()) {
          trace.spans.sort((a, b) => a.start_us - b.start_us || b.duration_ns - a.duration_ns);
          trace.roots = [];
          for (const span of trace.spans) {
            const parent = trace.known.get(span.parent_id);
            if (parent && parent !== span) parent.children.push(span);
            else trace.roots.push(span);
          }
          const seen = new Set();
          const walk = tops => {
            const stack = [...tops];
            while (stack.length) {
              const span = stack.pop();
              if (seen.has(span)) continue;
              seen.add(span);
              stack.push(...span.children);
            }
          };
          walk(trace.roots);
          for (const span of trace.spans) {
            if (seen.has(span)) continue;
            trace.known.get(span.parent_id).children = trace.known.get(span.parent_id).children.filter(one => one !== span);
            trace.roots.push(span);
            walk([span]);
          }
          trace.start = Infinity;
          trace.end = -Infinity;
          for (const span of trace.spans) {
            trace.start = Math.min(trace.start, span.start_us);
            trace.end = Math.max(trace.end, span.start_us + span.duration_ns / 1000);
          }
          trace.failed = trace.spans.filter(span => span.failure !== undefined).length;
        }
        const order = [...traces.values()].sort((a, b) => a.start - b.start);
        const state = { trace: 0, rows: [], picked: 0, from: 0, to: 1, hits: new Set(), folded: new Set() };

        const text = span => JSON.stringify(
          [span.name, span.scope, span.service, span.failure, span.attributes, span.events, span.span_id]).toLowerCase();

        const layout = () => {
          const trace = order[state.trace];
          const stack = trace.roots.map(span => [span, 0]).reverse();
          state.rows = [];
          while (stack.length) {
            const [span, depth] = stack.pop();
            state.rows.push({ span, depth });
            if (!state.folded.has(span))
              for (let place = span.children.length - 1; place >= 0; place--) stack.push([span.children[place], depth + 1]);
          }
          state.picked = Math.max(0, Math.min(state.picked, state.rows.length - 1));
          at("rows").style.height = state.rows.length * HEIGHT + "px";
        };

        const draw = () => {
          const trace = order[state.trace];
          const whole = Math.max(trace.end - trace.start, 0.001);
          const first = Math.max(0, Math.floor(at("view").scrollTop / HEIGHT) - 5);
          const last = Math.min(state.rows.length, first + Math.ceil(at("view").clientHeight / HEIGHT) + 10);
          const nodes = [];
          for (let place = first; place < last; place++) {
            const { span, depth } = state.rows[place];
            const row = make("div", "row");
            row.id = "row" + place;
            row.setAttribute("role", "treeitem");
            row.setAttribute("aria-level", depth + 1);
            row.setAttribute("aria-selected", place === state.picked);
            if (span.children.length) row.setAttribute("aria-expanded", !state.folded.has(span));
            if (place === state.picked) row.classList.add("pick");
            if (state.hits.has(span)) row.classList.add("hit");
            if (span.failure !== undefined) row.classList.add("bad");
            row.style.top = place * HEIGHT + "px";
            const sign = span.children.length ? (state.folded.has(span) ? "▸ " : "▾ ") : "  ";
            const name = make("div", "name", sign + span.name + " · " + (span.service || span.scope));
            name.style.paddingLeft = 6 + Math.min(depth, 40) * 12 + "px";
            const lane = make("div", "lane");
            const scale = share => ((share - state.from) / (state.to - state.from)) * 100;
            const left = scale((span.start_us - trace.start) / whole);
            const right = scale((span.start_us + span.duration_ns / 1000 - trace.start) / whole);
            const bar = make("div", "bar");
            bar.style.left = Math.max(left, -1) + "%";
            bar.style.width = Math.max(0, Math.min(right, 101) - Math.max(left, -1)) + "%";
            const time = make("div", "time", length(span.duration_ns));
            if (right < 80) time.style.left = Math.max(right, 0) + "%";
            else time.style.right = Math.max(0, 100 - left) < 80 ? Math.max(0, 100 - left) + "%" : "0";
            lane.append(bar, time);
            row.append(name, lane);
            row.onclick = () => pick(place);
            row.ondblclick = () => fold(!state.folded.has(span));
            nodes.push(row);
          }
          at("rows").replaceChildren(...nodes);
          at("view").setAttribute("aria-activedescendant", "row" + state.picked);
        };

        const table = pairs => {
          const node = make("table");
          for (const [key, value] of pairs) {
            const line = make("tr");
            line.append(make("td", "", key), make("td", "", typeof value === "string" ? value : JSON.stringify(value)));
            node.append(line);
          }
          return node;
        };

        const details = () => {
          const row = state.rows[state.picked];
          if (!row) return at("side").replaceChildren();
          const span = row.span;
          const facts = [
            ["duration", length(span.duration_ns)], ["start", moment(span.start_us)],
            ["service", span.service], ["scope", span.scope], ["kind", span.kind],
          ];
          if (span.failure !== undefined) facts.push(["failure", span.failure]);
          facts.push(["trace_id", span.trace_id], ["span_id", span.span_id]);
          if (span.parent_id) facts.push(["parent_id", span.parent_id]);
          if (span.dropped) facts.push(["left out", span.dropped]);
          const nodes = [make("h2", "", span.name), table(facts), table(Object.entries(span.attributes || {}))];
          for (const event of span.events || [])
            nodes.push(
              make("h2", "", event.name + " +" + length((event.time_us - span.start_us) * 1000)),
              table(Object.entries(event.attributes || {})));
          for (const link of span.links || []) nodes.push(make("h2", "", "linked"), table(Object.entries(link)));
          at("side").replaceChildren(...nodes);
        };

        const pick = place => {
          if (!state.rows.length) return;
          state.picked = Math.max(0, Math.min(place, state.rows.length - 1));
          const [top, view] = [state.picked * HEIGHT, at("view")];
          if (top < view.scrollTop) view.scrollTop = top;
          else if (top + HEIGHT > view.scrollTop + view.clientHeight) view.scrollTop = top + HEIGHT - view.clientHeight;
          draw();
          details();
        };

        const fold = isFolded => {
          const row = state.rows[state.picked];
          if (!row) return;
          if (isFolded && (!row.span.children.length || state.folded.has(row.span))) {
            const above = state.rows.slice(0, state.picked).findLastIndex(one => one.depth < row.depth);
            return above < 0 ? undefined : pick(above);
          }
          isFolded ? state.folded.add(row.span) : state.folded.delete(row.span);
          layout();
          draw();
        };

        const zoom = (factor, center = (state.from + state.to) / 2) => {
          const size = Math.min(1, Math.max(1e-6, (state.to - state.from) * factor));
          const share = (center - state.from) / (state.to - state.from);
          state.from = Math.min(1 - size, Math.max(0, center - size * share));
          state.to = state.from + size;
          draw();
        };

        const move = share => {
          const size = state.to - state.from;
          state.from = Math.min(1 - size, Math.max(0, state.from + size * share));
          state.to = state.from + size;
          draw();
        };

        const show = place => {
          state.trace = Math.max(0, Math.min(place, order.length - 1));
          at("pick").selectedIndex = state.trace;
          [state.picked, state.from, state.to] = [0, 0, 1];
          state.folded.clear();
          at("view").scrollTop = 0;
          layout();
          pick(0);
        };

        const note = words => {
          const left = data.total - data.spans.length;
          const limit = left > 0 ? ` Only the first ${data.spans.length} of ${data.total} spans are in this page.` : "";
          at("note").textContent = words + limit;
        };

        const search = () => {
          const words = at("search").value.toLowerCase();
          state.hits = new Set(words ? data.spans.filter(span => text(span).includes(words)) : []);
          note(words ? `${state.hits.size} matches.` : `${data.spans.length} spans in ${order.length} traces.`);
          if (order.length) draw();
        };

        // The next match, in this trace or another one, in folded parts too.
        const next = step => {
          if (!state.hits.size) return;
          for (let turn = 0; turn <= order.length; turn++) {
            if (turn === 0) {
              for (let place = state.picked + step; place >= 0 && place < state.rows.length; place += step)
                if (state.hits.has(state.rows[place].span)) return pick(place);
              continue;
            }
            const trace = (((state.trace + step * turn) % order.length) + order.length) % order.length;
            if (!order[trace].spans.some(span => state.hits.has(span))) continue;
            show(trace);
            const places = state.rows.map((row, place) => (state.hits.has(row.span) ? place : -1)).filter(place => place >= 0);
            return pick(step > 0 ? places[0] : places[places.length - 1]);
          }
        };

        const keys = {
          ArrowDown: () => pick(state.picked + 1), j: () => pick(state.picked + 1),
          ArrowUp: () => pick(state.picked - 1), k: () => pick(state.picked - 1),
          PageDown: () => pick(state.picked + 20), PageUp: () => pick(state.picked - 20),
          Home: () => pick(0), End: () => pick(state.rows.length - 1),
          ArrowLeft: () => fold(true), ArrowRight: () => fold(false),
          "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => zoom(1e9),
          a: () => move(-0.25), d: () => move(0.25), n: () => next(1), p: () => next(-1),
          "[": () => show(state.trace - 1), "]": () => show(state.trace + 1), "/": () => at("search").focus(),
        };

        document.addEventListener("keydown", event => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.target === at("pick")) return;
          if (event.target === at("search")) {
            if (event.key === "Enter" || event.key === "Escape") at("view").focus();
            if (event.key === "Enter") next(1);
            return;
          }
          if (!order.length || !Object.hasOwn(keys, event.key)) return;
          event.preventDefault();
          keys[event.key]();
        });
        at("search").oninput = search;
        at("in").onclick = () => zoom(0.5);
        at("out").onclick = () => zoom(2);
        at("all").onclick = () => zoom(1e9);
        at("pick").onchange = () => show(at("pick").selectedIndex);
        at("view").onscroll = () => draw();
        at("view").addEventListener("wheel", event => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          const lane = at("rows").querySelector(".lane");
          if (!lane) return;
          const box = lane.getBoundingClientRect();
          const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
          zoom(event.deltaY < 0 ? 0.8 : 1.25, state.from + share * (state.to - state.from));
        }, { passive: false });
        window.addEventListener("resize", () => { if (order.length) draw(); });

        for (const trace of order) {
          const failed = trace.failed ? `, ${trace.failed} failed` : "";
          const time = moment(trace.start).slice(0, 19).replace("T", " ");
          const words = `${time} ${trace.roots[0].name} · ${trace.spans.length} spans${failed} · ` +
            length(Math.round((trace.end - trace.start) * 1000));
          at("pick").append(make("option", "", words));
        }
        search();
        if (order.length) {
          show(0);
          at("view").focus();
        }

        """#
}
