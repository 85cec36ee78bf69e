import Testing

@testable import LoopKit

@Suite("Tables of a loop")
struct TableTests {
    @Test("A token is never issued twice, and finds nothing after its release")
    func tokens() throws {
        let core = LoopCore()
        var table = SlotTable()
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            let tokens = (0..<3).map { _ in table.reserve() }
            for token in tokens {
                #expect(seen.insert(token).inserted)
                #expect(table[token] == nil)
                let registration = Registration(-1, isOwned: false, core: core, token: token)
                table.fill(token, registration)
                #expect(table[token] === registration)
            }
            for token in tokens { table.release(token) }
            for token in tokens { #expect(table[token] == nil) }
            // A second release must not free the slot of the next one.
            table.release(tokens[0])
        }
        #expect(table[LoopCore.wakeupToken] == nil)
    }

    @Test("Deadlines come out in order of time, whatever the order of insertion")
    func heap() {
        var generator = SystemRandomNumberGenerator()
        var heap = DeadlineHeap()
        var times: [Int64] = []
        for token in 0..<1_000 {
            let time = Int64.random(in: 0..<300, using: &generator)
            times.append(time)
            heap.add(DeadlineHeap.Entry(time: time, token: UInt64(token)))
        }
        #expect(heap.nearest == times.min())
        var taken: [Int64] = []
        while let entry = heap.takeFirst(until: 149) { taken.append(entry.time) }
        #expect(taken == times.filter { $0 <= 149 }.sorted())
        while let entry = heap.takeFirst(until: .max) { taken.append(entry.time) }
        #expect(taken == times.sorted())
        #expect(heap.nearest == nil)
    }
}
