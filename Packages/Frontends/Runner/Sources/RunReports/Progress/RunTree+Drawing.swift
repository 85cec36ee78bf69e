import Capabilities
import Runs
import TerminalKit

extension RunTree {
    /// How many of those below a step are shown one by one; the others are a number.
    private static let shownBelow = 4
    /// How deep steps are shown.
    private static let deepest = 6

    /// The lines that show it now, in at most `room` of them: what runs and what failed comes before what is over, and
    /// what is over before what is still to come.
    func lines(room: Int, at now: Duration) -> [StyledText] {
        var blocks = [[StyledText]?](repeating: nil, count: top.count)
        var left = max(1, room - 2)
        for isWanted in [
            { (status: StepStatus?) in status == .running }, { $0 == .failed }, { $0 != nil }, { $0 == nil },
        ] {
            // The newest of what is over says most.
            for index in top.indices.reversed() where blocks[index] == nil && left > 0 {
                guard isWanted(nodes[top[index]].status) else { continue }
                let block = Array(block(of: top[index], depth: 0, at: now).prefix(left))
                left -= block.count
                blocks[index] = block
            }
        }
        let hidden = blocks.count { $0 == nil }
        var lines = blocks.flatMap { $0 ?? [] }
        if hidden > 0 { lines.append(StyledText("  … and \(hidden) more", Style(.mutedForeground))) }
        lines.append(footer(at: now))
        return lines
    }

    private func footer(at now: Duration) -> StyledText {
        let done = counts.reduce(0) { $0 + ($1.key == .running ? 0 : $1.value) }
        var text = StyledText("\(name)  \(done)/\(top.count)", Style(bold: true))
        for (status, token) in [(StepStatus.running, ThemeToken.ring), (.failed, .destructive)] {
            if let count = counts[status], count > 0 { text.append("  \(count) \(status.rawValue)", Style(token)) }
        }
        Self.append(elapsed: now, to: &text)
        return text
    }

    /// Shows whole seconds, and nothing in the first one: `0 s` would mislead beside a finished step's `15 ms`.
    private static func append(elapsed: Duration, to text: inout StyledText) {
        let seconds = elapsed.components.seconds
        if seconds > 0 { text.append("  \(Duration.seconds(seconds).roundedWords)", Style(.mutedForeground)) }
    }

    private func block(of place: Int, depth: Int, at now: Duration) -> [StyledText] {
        let node = nodes[place]
        var lines = [line(node, depth: depth, at: now)]
        guard !node.children.isEmpty, node.status == .running || node.status == .failed, depth < Self.deepest else {
            return lines
        }
        let interesting = node.children.filter { nodes[$0].status == .running || nodes[$0].status == .failed }
        for child in interesting.suffix(Self.shownBelow) { lines += block(of: child, depth: depth + 1, at: now) }
        return lines
    }

    private func line(_ node: Node, depth: Int, at now: Duration) -> StyledText {
        let (mark, token) = Self.look(of: node.status, isForgiven: node.isForgiven)
        var line = StyledText(String(repeating: "  ", count: depth) + mark + " ", Style(token))
        line.append(StepKey.name(of: node.key), Style(node.status == nil ? .mutedForeground : .foreground))
        if !node.children.isEmpty || node.expected > 0 { line.append("  \(Self.words(node))", Style(.mutedForeground)) }
        if node.attempt > 1 { line.append("  attempt \(node.attempt)", Style(.mutedForeground)) }
        if let began = node.began {
            Self.append(elapsed: now - began, to: &line)
        } else if node.status != nil, node.duration > .zero {
            line.append("  \(node.duration.roundedWords)", Style(.mutedForeground))
        }
        if node.status == .failed, let error = node.error { line.append("  \(error)", Style(.destructive)) }
        return line
    }

    /// `412 of 1000, 3 failed`.
    private static func words(_ node: Node) -> String {
        let done = node.counts.reduce(0) { $0 + ($1.key == .running ? 0 : $1.value) }
        let failed = node.counts[.failed] ?? 0
        return "\(done) of \(max(node.expected, node.children.count))" + (failed > 0 ? ", \(failed) failed" : "")
    }

    private static func look(of status: StepStatus?, isForgiven: Bool) -> (mark: String, token: ThemeToken) {
        switch status {
        case nil: ("·", .mutedForeground)
        case .running: ("▸", .ring)
        case .ok: ("✓", .accent)
        case .failed: isForgiven ? ("!", .mutedForeground) : ("✗", .destructive)
        case .skipped, .blocked: ("-", .mutedForeground)
        case .cancelled: ("■", .mutedForeground)
        }
    }
}
