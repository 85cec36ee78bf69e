import Capabilities
import JSON
import Synchronization
import Testing

@testable import GatewayAPI

@Suite("Cached responses") struct LastWrittenTests {
    /// A value that counts how often it is written.
    private struct Counted: OutputValue, Equatable {
        static let schema = Schema.integer(nil)
        let number: Int
        let count: Count

        var json: JSON {
            count.add()
            return .int(number)
        }

        static func == (left: Counted, right: Counted) -> Bool { left.number == right.number }
    }

    private final class Count: Sendable {
        private let sum = Mutex(0)
        var value: Int { sum.withLock { $0 } }
        func add() { sum.withLock { $0 += 1 } }
    }

    @Test("A response is written again only when its value changes")
    func counted() {
        let (count, written) = (Count(), LastWritten<Counted>())
        for (number, writes) in [(1, 1), (1, 1), (2, 2), (2, 2), (1, 3)] {
            #expect(written.bytes(of: Counted(number: number, count: count)) == Array("\(number)".utf8))
            #expect(count.value == writes)
        }
    }

    @Test("Concurrent callers never get each other's response")
    func together() async {
        let (count, written) = (Count(), LastWritten<Counted>())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        let bytes = written.bytes(of: Counted(number: number, count: count))
                        if bytes != Array("\(number)".utf8) { Issue.record("\(bytes) are not of \(number)") }
                    }
                }
            }
        }
        #expect((8...4000).contains(count.value))
    }
}
