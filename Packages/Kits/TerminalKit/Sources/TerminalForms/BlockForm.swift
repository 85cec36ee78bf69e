import Capabilities
import JSON
public import Screens
public import TerminalKit

/// Formats the blocks of a screen for a person, one below the other.
extension TextForm {
    /// The lines of a block, with its title.
    public func lines(_ block: Block) -> [StyledText] {
        var lines: [StyledText] = []
        if let title = block.title { lines.append(StyledText(title, Style(.heading, bold: true))) }
        return lines + content(of: block)
    }

    /// The lines of a block without its title.
    public func content(of block: Block) -> [StyledText] {
        switch block.content {
        case .text(let text): return text.styled.wrapped(to: width)
        case .markdown(let markdown): return self.markdown(markdown.text)
        case .code(let code): return plain(code.text, Style(.code))
        case .diff(let diff):
            return diff.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                let style: Style =
                    line.hasPrefix("+") ? Style(.added) : line.hasPrefix("-") ? Style(.removed) : .plain
                return StyledText(String(line), style)
            }
        case .values(let values): return list(values.values, values.properties)
        case .table(let table):
            guard case .all(let rows) = table.rows, !rows.isEmpty else { return [muted(table.empty)] }
            return self.table(rows.map { .object($0) }, table.columns)
        case .tree(let tree): return tree.nodes.flatMap { node($0, depth: 0) }
        case .log(let log): return omission(log.feed, "line") + entries(of: log.feed).map(line)
        case .transcript(let transcript):
            return apart([omission(transcript.feed, "entry")] + entries(of: transcript.feed).map(entry))
        case .timeline(let timeline):
            return table(timeline.steps.map(\.json), Timeline.Step.fields.map(\.property))
        case .waterfall(let waterfall): return self.waterfall(waterfall)
        case .chart(let chart): return self.chart(chart)
        case .gauge(let gauge): return [self.gauge(gauge)]
        case .progress(let progress): return [self.progress(progress)]
        case .form(let form):
            return [muted("\(form.submit): \(form.action)")]
                + list(form.values, form.values.map { Schema.Property($0.key, "", .any) })
        case .composer(let composer): return [muted("\(composer.hint) (\(composer.action))")]
        case .stack(let stack): return apart(stack.blocks.map(lines))
        case .split(let split): return apart([lines(split.first), lines(split.second)])
        case .tabs(let tabs): return apart(tabs.blocks.map(lines))
        case .collapsible(let collapsible): return lines(collapsible.block)
        case .placeholder(let placeholder):
            return placeholder.reason == .failed
                ? StyledText(placeholder.message, Style(.error)).wrapped(to: width) : [muted(placeholder.message)]
        }
    }

    // MARK: Texts

    private func muted(_ text: String) -> StyledText { StyledText(text, Style(.mutedForeground)) }

    private func plain(_ text: String, _ style: Style = .plain) -> [StyledText] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { StyledText(String($0), style) }
    }

    private func markdown(_ text: String) -> [StyledText] {
        guard Markdown.isAvailable else { return plain(text) }
        return Markdown.render(text, width: width, level: level, links: hasLinks, showsAddresses: true)
    }

    /// The parts with an empty line between them.
    private func apart(_ parts: [[StyledText]]) -> [StyledText] {
        var lines: [StyledText] = []
        for part in parts where !part.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += part
        }
        return lines
    }

    private func state(_ word: String) -> StyledText { StyledText(word, StateLook(of: word).style) }

    // MARK: Growing and nested content

    private func node(_ node: Tree.Node, depth: Int) -> [StyledText] {
        var line = StyledText(String(repeating: "  ", count: depth))
        if let state = node.state {
            let look = StateLook(of: state)
            line.append("\(look.mark) ", look.style)
        }
        line.append(node.label.styled)
        if let state = node.state { line = line + StyledText("  ") + self.state(state) }
        return [line] + node.children.flatMap { self.node($0, depth: depth + 1) }
    }

    private func entries<Entry>(of feed: Feed<Entry>) -> ArraySlice<Entry> {
        let (start, entries) = feed.entries(from: 0)
        return feedEnds[ObjectIdentifier(feed)].map { entries.prefix(max(0, $0 - start)) } ?? entries
    }

    /// Says how many entries of a feed were dropped.
    public func omission<Entry>(_ feed: Feed<Entry>, _ noun: String) -> [StyledText] {
        let count = feed.start
        guard count > 0 else { return [] }
        let words = count == 1 ? "1 older \(noun) is" : "\(count) older \(noun == "entry" ? "entries" : "\(noun)s") are"
        return [muted("\(words) not shown")]
    }

    /// A line of a log.
    public func line(_ line: Log.Line) -> StyledText {
        var text = StyledText()
        if let time = line.time { text.append(words(time) + "  ", Style(.mutedForeground)) }
        if let state = line.state { text = text + self.state(state) + StyledText("  ") }
        return text + StyledText(line.text)
    }

    private func words(_ time: Timestamp) -> String { clock?.local(time) ?? Cells.text(time.json, .time) }

    /// An entry of a transcript.
    public func entry(_ entry: Transcript.Entry) -> [StyledText] {
        var head = StyledText(entry.title ?? entry.author.rawValue, Style(bold: true))
        if let state = entry.state { head = head + StyledText("  ") + self.state(state) }
        if let time = entry.time { head.append("  " + words(time), Style(.mutedForeground)) }
        switch entry.author {
        case .person, .model: return [head] + markdown(entry.text)
        case .thought, .tool, .notice: return [head] + plain(entry.text, Style(.mutedForeground))
        }
    }

    // MARK: Numbers

    /// The columns of a bar.
    private static let barWidth = 30

    private func bar(from start: Double = 0, to end: Double, _ token: ThemeToken) -> StyledText {
        let size = Double(Self.barWidth)
        let first = min(Self.barWidth - 1, max(0, Int(start * size)))
        let last = min(Self.barWidth, max(first + (end > start ? 1 : 0), Int((end * size).rounded())))
        return StyledText(String(repeating: "·", count: first), Style(.mutedForeground))
            + StyledText(String(repeating: "█", count: last - first), Style(token))
            + StyledText(String(repeating: "·", count: Self.barWidth - last), Style(.mutedForeground))
    }

    private func waterfall(_ waterfall: Waterfall) -> [StyledText] {
        guard let first = waterfall.bars.map(\.start.microseconds).min() else { return [] }
        func end(_ bar: Waterfall.Bar) -> Int64 { bar.start.microseconds + Int64(bar.duration / .microseconds(1)) }
        let whole = Double(max(1, (waterfall.bars.map(end).max() ?? first) - first))
        var depths: [String: Int] = [:]
        return waterfall.bars.map { bar in
            let depth = bar.parent.flatMap { depths[$0] }.map { $0 + 1 } ?? 0
            depths[bar.id] = depth
            let drawn = self.bar(
                from: Double(bar.start.microseconds - first) / whole, to: Double(end(bar) - first) / whole, .chart1)
            return drawn + StyledText("  \(bar.duration.roundedWords)  ") + state(bar.state)
                + StyledText("  " + String(repeating: "  ", count: depth) + bar.title)
        }
    }

    /// A bar with its label on each line, or a row of small bars where the positions have no labels.
    private func chart(_ chart: Chart) -> [StyledText] {
        guard chart.form == .bars, !chart.labels.isEmpty else {
            return chart.series.enumerated().map { sparkline($1, chart.unit, Self.token(ofSeries: $0)) }
        }
        let most = chart.series.flatMap(\.values).filter(\.isFinite).max() ?? 0
        let labels = chart.labels.map { TextWidth.truncate(Sanitizer.sanitize($0), to: 24) }
        let room = labels.map { TextWidth.of($0) }.max() ?? 0
        let unit = chart.unit.map { " \($0)" } ?? ""
        return chart.series.enumerated().flatMap { number, series -> [StyledText] in
            let token = Self.token(ofSeries: number)
            let title = chart.series.count > 1 ? [StyledText(series.name, Style(bold: true))] : []
            return title
                + zip(labels, series.values).map { label, value in
                    let bar = bar(to: most > 0 && value.isFinite ? value / most : 0, token)
                    let number = value.isFinite ? Self.number(value) + unit : "no value"
                    return StyledText(TextWidth.pad(label, to: room) + "  ") + bar + StyledText("  \(number)")
                }
        }
    }

    private static func token(ofSeries number: Int) -> ThemeToken {
        let tokens: [ThemeToken] = [.chart1, .chart2, .chart3, .chart4, .chart5]
        return tokens[number % tokens.count]
    }

    private func sparkline(_ series: Chart.Series, _ unit: String?, _ token: ThemeToken) -> StyledText {
        let values = series.values.suffix(max(10, (width ?? 80) - 40))
        let known = values.filter(\.isFinite)
        guard let least = known.min(), let most = known.max(), let last = known.last else {
            return StyledText("\(series.name): ") + muted("no values")
        }
        let levels = Array("▁▂▃▄▅▆▇█")
        let marks = values.map { value -> Character in
            guard value.isFinite else { return " " }
            return most > least ? levels[Int((value - least) / (most - least) * 7)] : levels[0]
        }
        let unit = unit.map { " \($0)" } ?? ""
        return StyledText("\(series.name)  ", Style(bold: true)) + StyledText(String(marks), Style(token))
            + StyledText("  \(Self.number(last))\(unit)  (\(Self.number(least)) to \(Self.number(most)))")
    }

    private func gauge(_ gauge: Gauge) -> StyledText {
        let part = gauge.limit > 0 ? gauge.value / gauge.limit : 0
        let token: ThemeToken =
            gauge.failure.map { part >= $0 } == true
            ? .error : gauge.warning.map { part >= $0 } == true ? .warning : .accent
        let unit = gauge.unit.map { " \($0)" } ?? ""
        return bar(to: min(1, max(0, part)), token)
            + StyledText("  \(Self.number(gauge.value)) of \(Self.number(gauge.limit))\(unit)")
    }

    private func progress(_ progress: ProgressBar) -> StyledText {
        let name = StyledText(progress.activity, Style(bold: true))
        guard let completed = progress.completed else { return name }
        guard let total = progress.total, total > 0 else { return name + StyledText("  \(completed)") }
        return name + StyledText("  ") + bar(to: min(1, Double(completed) / Double(total)), .accent)
            + StyledText("  \(completed) of \(total)")
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? "\(Int(value))" : "\((value * 100).rounded() / 100)"
    }
}

extension RichText {
    /// The text for a terminal.
    public var styled: StyledText {
        var text = StyledText()
        for run in runs { text.append(run.text, Style(run.token, bold: run.isBold)) }
        return text
    }
}

extension StyledText {
    fileprivate func wrapped(to width: Int?) -> [StyledText] { width.map { wrapped(to: $0) } ?? [self] }
}
