import JSON

/// The problems of a value, up to a limit, and the place of the part that is being checked.
struct Report {
    private enum Step {
        case name(String)
        case index(Int)
    }

    private let limit: Int
    private var path: [Step] = []
    private(set) var problems: [JSONSchema.Problem] = []
    private(set) var hasMore = false

    init(limit: Int) {
        self.limit = limit
    }

    mutating func enter(_ name: String) { path.append(.name(name)) }

    mutating func enter(_ index: Int) { path.append(.index(index)) }

    mutating func leave() { path.removeLast() }

    /// Adds a problem of the present part.
    mutating func add(_ message: String, keyword: String) {
        guard problems.count < limit else {
            hasMore = true
            return
        }
        let place = path.map { step in
            switch step {
            case .name(let name): "/" + Pointer.escape(name)
            case .index(let index): "/\(index)"
            }
        }
        problems.append(JSONSchema.Problem(place: place.joined(), keyword: keyword, message: message))
    }

    /// Says that the problems after the first ones are about the name of the present part.
    mutating func markNames(after count: Int) {
        for index in problems.indices.dropFirst(count) {
            let problem = problems[index]
            problems[index] = JSONSchema.Problem(
                place: problem.place, keyword: problem.keyword, message: "has a name that \(problem.message)")
        }
    }
}

extension NumberRules {
    /// Whether a number keeps within the limits.
    func accepts(_ number: JSON) -> Bool {
        if let minimum, ExactNumber.isLess(number, minimum) { return false }
        if let maximum, ExactNumber.isLess(maximum, number) { return false }
        if let exclusiveMinimum, !ExactNumber.isLess(exclusiveMinimum, number) { return false }
        if let exclusiveMaximum, !ExactNumber.isLess(number, exclusiveMaximum) { return false }
        return divisor?.divides(number) ?? true
    }

    /// What is wrong with a number, by keyword.
    func problems(_ number: JSON) -> [(keyword: String, message: String)] {
        var problems: [(String, String)] = []
        let shown = Shown.value(number)
        if let minimum, ExactNumber.isLess(number, minimum) {
            problems.append(("minimum", "needs to be at least \(Shown.value(minimum)), not \(shown)"))
        }
        if let maximum, ExactNumber.isLess(maximum, number) {
            problems.append(("maximum", "needs to be at most \(Shown.value(maximum)), not \(shown)"))
        }
        if let limit = exclusiveMinimum, !ExactNumber.isLess(limit, number) {
            problems.append(("exclusiveMinimum", "needs to be greater than \(Shown.value(limit)), not \(shown)"))
        }
        if let limit = exclusiveMaximum, !ExactNumber.isLess(number, limit) {
            problems.append(("exclusiveMaximum", "needs to be less than \(Shown.value(limit)), not \(shown)"))
        }
        if let divisor, !divisor.divides(number) {
            problems.append(("multipleOf", "needs to be a multiple of \(Shown.value(divisor.number)), not \(shown)"))
        }
        return problems
    }
}

extension TextRules {
    /// Whether the text has the right length in code points. The cost grows by one for each 64 bytes that are counted.
    func acceptsLength(of text: String, cost: inout Int) -> Bool {
        let bytes = text.utf8.count
        // A code point has one to four bytes.
        if bytes <= most, bytes >> 2 >= least { return true }
        if bytes < least { return false }
        cost += bytes >> 6
        let count = text.unicodeScalars.count
        return count >= least && count <= most
    }

    /// What is wrong with a length, by keyword.
    func lengthProblems(of text: String) -> [(keyword: String, message: String)] {
        let count = text.unicodeScalars.count
        var problems: [(String, String)] = []
        if count < least {
            problems.append(("minLength", "needs at least \(Shown.count(least, "character")), not \(count)"))
        }
        if count > most {
            problems.append(("maxLength", "needs at most \(Shown.count(most, "character")), not \(count)"))
        }
        return problems
    }
}

/// Finds an element that is equal to an earlier one, in time that grows with the size of all.
struct Repetition {
    /// Nil if all elements differ, or if the cost has reached the limit.
    private(set) var pair: (first: Int, second: Int)?
    private(set) var cost = 0

    /// Up to this many elements, comparing all pairs is faster than a table.
    private static let fewest = 6

    init(in elements: [JSON], limit: Int) {
        elements.count <= Self.fewest ? compareAll(elements) : useTable(elements, limit)
    }

    private mutating func compareAll(_ elements: [JSON]) {
        for second in elements.indices {
            for first in 0..<second where ExactValue.areEqual(elements[first], elements[second], cost: &cost) {
                pair = (first, second)
                return
            }
        }
    }

    /// The hashes are seeded by the process, so that nobody can choose elements that collide.
    private mutating func useTable(_ elements: [JSON], _ limit: Int) {
        var size = 16
        while size < elements.count * 2 { size *= 2 }
        var slots = [Int32](repeating: -1, count: size)
        var hashes: [Int] = []
        hashes.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            if cost > limit { return }
            var hasher = Hasher()
            ExactValue.hash(element, into: &hasher, cost: &cost)
            let hash = hasher.finalize()
            hashes.append(hash)
            var slot = hash & (size - 1)
            while slots[slot] >= 0 {
                let other = Int(slots[slot])
                if hashes[other] == hash, ExactValue.areEqual(elements[other], element, cost: &cost) {
                    pair = (other, index)
                    return
                }
                slot = (slot + 1) & (size - 1)
            }
            slots[slot] = Int32(index)
        }
    }
}
