import Capabilities
public import Runs
import Synchronization
public import TerminalKit

/// The live view of a run on a terminal: a tree that is redrawn up to ten times a second.
///
/// The owner runs ``run()`` next to the run.
public final class LiveProgress: Sendable {
    private struct State {
        var tree = RunTree()
        var lines: LiveLines
        /// Notices that stay above the tree.
        var notices: [StyledText] = []
        var isOver = false
    }

    private static let interval = Duration.milliseconds(100)

    private let state: Mutex<State>
    private let size: @Sendable () -> TerminalSize
    private let write: @Sendable (String) -> Void
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - theme: the colours.
    ///   - size: called for each drawing, because the window may be resized.
    ///   - write: writes to the terminal.
    public init<C: Clock>(
        level: ColorLevel, theme: Theme = .terminal, clock: C, size: @escaping @Sendable () -> TerminalSize,
        write: @escaping @Sendable (String) -> Void
    ) where C.Duration == Duration {
        state = Mutex(State(lines: LiveLines(level: level, theme: theme)))
        self.size = size
        self.write = write
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(for: $0) }
    }

    /// Adds an event, which the next drawing shows.
    public func receive(_ event: RunEvent) {
        let now = elapsed()
        state.withLock { state in
            switch event {
            case .began(let facts): state.tree.begin(facts)
            case .step(let update): state.tree.update(update, at: now)
            case .spread(let step, let count): state.tree.expect(count, below: step, at: now)
            case .notice:
                if let line = PlainProgress.line(event) {
                    state.notices.append(StyledText(line, Style(.mutedForeground)))
                }
            case .output, .ended: break
            }
        }
    }

    /// Draws until the surrounding task is cancelled.
    public func run() async {
        while true {
            // Sleeping throws only when cancelled, and then this ends.
            do { try await pause(Self.interval) } catch { return }
            draw()
        }
    }

    /// Draws the current state.
    public func draw() {
        let (now, size) = (elapsed(), size())
        state.withLock { state in
            guard !state.isOver else { return }
            let lines = state.tree.lines(room: LiveLines.room(size), at: now)
            write(state.lines.show(lines, above: state.notices, size: size))
            state.notices = []
        }
    }

    /// Draws the last state, which stays on the screen.
    public func finish() {
        let (now, size) = (elapsed(), size())
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            let lines = state.tree.lines(room: LiveLines.room(size), at: now)
            write(state.lines.finish(state.notices + lines, size: size))
        }
    }
}

/// The steps of a run as a tree. Drawing costs the same whatever its width and depth.
struct RunTree {
    /// A step, one of its runs, or a step of a bundle that it runs.
    struct Node {
        let key: String
        var status: StepStatus?
        var error: String?
        var duration = Duration.zero
        /// When it started to run.
        var began: Duration?
        var attempt = 1
        var isForgiven = false
        /// Its children, in the order they started.
        var children: [Int] = []
        /// The expected number of children.
        var expected = 0
        var counts: [StepStatus: Int] = [:]
        let parent: Int?
    }

    private(set) var nodes: [Node] = []
    private(set) var top: [Int] = []
    /// The number of top-level steps in each state.
    private(set) var counts: [StepStatus: Int] = [:]
    private var places: [String: Int] = [:]
    private(set) var name = ""

    mutating func begin(_ facts: RunFacts) {
        name = facts.name
        for key in facts.steps { _ = place(of: key) }
    }

    /// Starts a step with several parts.
    mutating func expect(_ count: Int, below key: String, at now: Duration) {
        let place = place(of: key)
        nodes[place].expected = count
        begin(place, at: now)
    }

    mutating func update(_ update: StepUpdate, at now: Duration) {
        let place = place(of: update.key)
        let status = update.triesAgain ? .running : update.outcome.status
        count(status, insteadOf: nodes[place].status, at: place)
        nodes[place].status = status
        nodes[place].error = update.outcome.error?.message
        nodes[place].duration = update.outcome.duration
        nodes[place].attempt = update.attempt
        nodes[place].isForgiven = update.outcome.isForgiven
        if status != .running {
            nodes[place].began = nil
        } else if nodes[place].began == nil {
            nodes[place].began = now
        }
        // A step with several runs is reported only when all of them have ended.
        if let parent = nodes[place].parent { begin(parent, at: now) }
    }

    /// Marks a step and its parents as running if they have no state yet.
    private mutating func begin(_ place: Int, at now: Duration) {
        var next: Int? = place
        while let place = next, nodes[place].status == nil {
            count(.running, insteadOf: nil, at: place)
            nodes[place].status = .running
            nodes[place].began = now
            next = nodes[place].parent
        }
    }

    private mutating func count(_ status: StepStatus, insteadOf before: StepStatus?, at place: Int) {
        func change(_ counts: inout [StepStatus: Int]) {
            if let before { counts[before, default: 1] -= 1 }
            counts[status, default: 0] += 1
        }
        if let parent = nodes[place].parent { change(&nodes[parent].counts) } else { change(&counts) }
    }

    private mutating func place(of key: String) -> Int {
        if let place = places[key] { return place }
        let parent = StepKey.parent(of: key).map { self.place(of: $0) }
        let place = nodes.count
        nodes.append(Node(key: key, parent: parent))
        places[key] = place
        if let parent { nodes[parent].children.append(place) } else { top.append(place) }
        return place
    }
}

extension RunTree {
    /// The number of children of a step that are shown one by one; the others are only counted.
    private static let shownBelow = 4
    /// The number of levels that are shown.
    private static let deepest = 6

    /// The lines of the current state, at most `room`. Running and failed steps come first, then finished ones, then
    /// waiting ones.
    func lines(room: Int, at now: Duration) -> [StyledText] {
        var blocks = [[StyledText]?](repeating: nil, count: top.count)
        var left = max(1, room - 2)
        for isWanted in [
            { (status: StepStatus?) in status == .running }, { $0 == .failed }, { $0 != nil }, { $0 == nil },
        ] {
            // The newest of the finished steps are the most useful.
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
