/// What an answer may hold in all, so that no server can fill the memory.
package struct AnswerBudget: Sendable {
    package static let largestText = 16 << 20
    package static let largestInput = 16 << 20
    package static let mostCalls = 1000
    package static let mostParts = 10_000

    private var text = 0
    private var input = 0
    private var calls = 0
    private var parts = 0

    package init() {}

    package mutating func charge(text piece: String) throws(DialectError) {
        text += piece.utf8.count
        guard text <= Self.largestText else {
            throw DialectError(
                .tooLarge, "the answer has more than \(Self.largestText >> 20) MiB of text; ask for a shorter one")
        }
    }

    package mutating func chargePart() throws(DialectError) {
        parts += 1
        guard parts <= Self.mostParts else {
            throw DialectError(.tooLarge, "the answer has more than \(Self.mostParts) parts; ask for a shorter one")
        }
    }

    package mutating func charge(input piece: String) throws(DialectError) {
        input += piece.utf8.count
        guard input <= Self.largestInput else {
            throw DialectError(
                .tooLarge, "the calls have more than \(Self.largestInput >> 20) MiB of input; ask for less at once")
        }
    }

    /// Counts a call, and gives it an id in case that the server has none for it.
    package mutating func chargeCall() throws(DialectError) -> String {
        guard calls < Self.mostCalls else {
            throw DialectError(.tooLarge, "the answer has more than \(Self.mostCalls) calls; offer fewer tools")
        }
        calls += 1
        return "call_\(calls)"
    }
}
