/// The work that a check may still do, and what it has left unchecked.
struct CheckBudget {
    private let limits: JSONSchema.Limits
    private(set) var steps: Int
    /// Whether a limit was reached.
    private(set) var isStopped = false
    /// The gaps of the schema that were met, by their bits, and those that only this value has.
    private var met: UInt64 = 0
    private var otherGaps: [JSONSchema.Gap] = []

    /// The gaps that only one value has and that are listed.
    private static let mostOtherGaps = 8

    init(_ limits: JSONSchema.Limits) {
        self.limits = limits
        steps = limits.steps
    }

    /// What was not checked.
    func gaps(of program: Program) -> [JSONSchema.Gap] {
        if met == 0 { return otherGaps }
        return program.gaps.indices.filter { met & (1 << UInt64($0)) != 0 }.map { program.gaps[$0] } + otherGaps
    }

    /// Counts work. Returns false if the check has to end.
    @inline(__always)
    mutating func take(_ count: Int) -> Bool {
        steps -= count
        if steps < 0, !isStopped { stop("after \(limits.steps) steps") }
        return !isStopped
    }

    /// Ends the check if so many subschemas are applied one inside the other. Returns false if it has to end.
    @inline(__always)
    mutating func allows(depth: Int) -> Bool {
        if depth < limits.depth { return true }
        if !isStopped { stop("at a depth of \(limits.depth) subschemas") }
        return false
    }

    private mutating func stop(_ place: String) {
        isStopped = true
        otherGaps.append(
            JSONSchema.Gap(kind: .limit, description: "the check stopped \(place); the rest is not checked"))
    }

    /// Notes a gap of the schema.
    mutating func note(_ gap: Int32) -> CheckOutcome {
        met |= 1 << UInt64(gap)
        return .maybe
    }

    /// Notes a gap that only this value has.
    mutating func note(_ kind: JSONSchema.Gap.Kind, _ description: String) -> CheckOutcome {
        let gap = JSONSchema.Gap(kind: kind, description: description)
        if otherGaps.count < Self.mostOtherGaps, !otherGaps.contains(gap) { otherGaps.append(gap) }
        return .maybe
    }
}
