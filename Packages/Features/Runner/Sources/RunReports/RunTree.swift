import Capabilities
public import Runs
public import Screens

/// The steps of a run as a tree, each with its state. It is brought up to date by the events of the run.
public struct RunTree: Sendable {
    /// A step, one of its runs, or a step of a bundle that it runs.
    private struct Node {
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

    private var nodes: [Node] = []
    private var top: [Int] = []
    /// The number of top-level steps in each state.
    private var counts: [StepStatus: Int] = [:]
    private var places: [String: Int] = [:]
    private var name = ""

    /// A run that has not begun.
    public init() {}

    /// Whether the tree says the same until the next event.
    public var isStill: Bool { counts[.running, default: 0] == 0 }

    /// Takes the next event, at a time since the run began.
    public mutating func receive(_ event: RunEvent, at now: Duration) {
        switch event {
        case .began(let facts): begin(facts)
        case .step(let step): update(step, at: now)
        case .spread(let step, let count): expect(count, below: step, at: now)
        case .notice, .output, .ended: break
        }
    }

    private mutating func begin(_ facts: RunFacts) {
        name = facts.name
        for key in facts.steps { _ = place(of: key) }
    }

    /// Starts a step with several parts.
    private mutating func expect(_ count: Int, below key: String, at now: Duration) {
        let place = place(of: key)
        nodes[place].expected = count
        begin(place, at: now)
    }

    private mutating func update(_ update: StepUpdate, at now: Duration) {
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

// MARK: What is shown of it

extension RunTree {
    /// How many top-level steps are shown, and how many parts of one; all others are only counted.
    private static let (mostTop, mostBelow) = (500, 4)
    /// The number of levels that are shown.
    private static let deepest = 6

    /// The tree with a line below it that sums it up. It costs the same however many parts the steps have.
    public func block(at now: Duration) -> Block {
        var blocks = [Block(.tree(Tree(shown.map { node($0, depth: 0, at: now) })), id: "steps")]
        if top.count > Self.mostTop {
            blocks.append(
                Block(.text(RichText("… and \(top.count - Self.mostTop) more", .mutedForeground)), id: "more"))
        }
        blocks.append(Block(.text(sum(at: now)), id: "sum"))
        return .stack(blocks, id: "run")
    }

    /// The top-level steps: if there are too many, those that run or have failed, and then the last ones that began.
    private var shown: [Int] {
        guard top.count > Self.mostTop else { return top }
        func rank(_ place: Int) -> Int {
            switch nodes[place].status {
            case .running: 0
            case .failed: 1
            case nil: 3
            default: 2
            }
        }
        let first = top.reversed().sorted { rank($0) < rank($1) }.prefix(Self.mostTop)
        return first.sorted()
    }

    private func sum(at now: Duration) -> RichText {
        let done = counts.reduce(0) { $0 + ($1.key == .running ? 0 : $1.value) }
        var text = RichText("\(name)  \(done)/\(top.count)", bold: true)
        for (status, token) in [(StepStatus.running, ThemeToken.ring), (.failed, .destructive)] {
            if let count = counts[status], count > 0 { text = text + RichText("  \(count) \(status.rawValue)", token) }
        }
        return text + Self.words(elapsed: now)
    }

    /// Whole seconds, and nothing in the first one: `0 s` would mislead beside a finished step's `15 ms`.
    private static func words(elapsed: Duration) -> RichText {
        let seconds = elapsed.components.seconds
        return seconds > 0 ? RichText("  \(Duration.seconds(seconds).roundedWords)", .mutedForeground) : ""
    }

    private func node(_ place: Int, depth: Int, at now: Duration) -> Tree.Node {
        let node = nodes[place]
        var children: [Int] = []
        if node.status == .running || node.status == .failed, depth < Self.deepest {
            children = node.children.filter { nodes[$0].status == .running || nodes[$0].status == .failed }
                .suffix(Self.mostBelow)
        }
        return Tree.Node(
            node.key, label(node, at: now), state: Self.state(of: node),
            children.map { self.node($0, depth: depth + 1, at: now) })
    }

    private func label(_ node: Node, at now: Duration) -> RichText {
        var text = RichText(StepKey.name(of: node.key), node.status == nil ? .mutedForeground : .foreground)
        if !node.children.isEmpty || node.expected > 0 {
            text = text + RichText("  \(Self.words(node))", .mutedForeground)
        }
        if node.attempt > 1 { text = text + RichText("  attempt \(node.attempt)", .mutedForeground) }
        if let began = node.began {
            text = text + Self.words(elapsed: now - began)
        } else if node.status != nil, node.duration > .zero {
            text = text + RichText("  \(node.duration.roundedWords)", .mutedForeground)
        }
        if node.status == .failed, let error = node.error { text = text + RichText("  \(error)", .destructive) }
        return text
    }

    /// `412 of 1000, 3 failed`.
    private static func words(_ node: Node) -> String {
        let done = node.counts.reduce(0) { $0 + ($1.key == .running ? 0 : $1.value) }
        let failed = node.counts[.failed] ?? 0
        return "\(done) of \(max(node.expected, node.children.count))" + (failed > 0 ? ", \(failed) failed" : "")
    }

    private static func state(of node: Node) -> String {
        guard let status = node.status else { return "waiting" }
        return status == .failed && node.isForgiven ? "warning" : status.rawValue
    }
}
