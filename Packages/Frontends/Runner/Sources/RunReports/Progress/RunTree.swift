import Capabilities
import Runs
import TerminalKit

/// What is known of the steps of a run, as a tree whose width and depth cost nothing to draw.
struct RunTree {
    /// A step, one of its runs, or a step of a bundle that it runs.
    struct Node {
        let key: String
        var status: StepStatus?
        var error: String?
        var duration = Duration.zero
        /// Since when it runs.
        var began: Duration?
        var attempt = 1
        var isForgiven = false
        /// Those below it, in the order in which they began.
        var children: [Int] = []
        /// How many there will be below it.
        var expected = 0
        var counts: [StepStatus: Int] = [:]
        let parent: Int?
    }

    private(set) var nodes: [Node] = []
    private(set) var top: [Int] = []
    /// How many at the top have which state.
    private(set) var counts: [StepStatus: Int] = [:]
    private var places: [String: Int] = [:]
    private(set) var name = ""

    mutating func begin(_ facts: RunFacts) {
        name = facts.name
        for key in facts.steps { _ = place(of: key) }
    }

    /// A step begins that consists of so many.
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
        // A step of several runs tells of itself only when all are over.
        if let parent = nodes[place].parent { begin(parent, at: now) }
    }

    /// Marks a step and what is above it as running, as far as they have no state yet.
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
