import Capabilities
import CoreTesting
import Synchronization
import Testing

@testable import GatewayTurns

@Suite("Feeds")
struct FeedTests {
    private func text(_ number: Int) -> GatewayEvent { .chat(.text("\(number)")) }

    @Test("events come in order, however fast reader and writer are")
    func inOrder() async throws {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<20 {
            let feed = Feed()
            let (slowWriter, slowReader) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let writer = Task {
                for number in 0..<200 {
                    if slowWriter { await Task.yield() }
                    await feed.send([text(number)])
                }
                feed.finish()
            }
            var read: [GatewayEvent] = []
            while let events = await feed.next() {
                read += events
                if slowReader { await Task.yield() }
            }
            #expect(read == (0..<200).map(text))
            await writer.value
        }
    }

    @Test("the writer gets a little ahead of the reader and no more")
    func backPressure() async throws {
        let feed = Feed()
        let written = Mutex(0)
        let full = Promise<Void>()
        let writer = Task {
            for number in 0..<200 {
                if number == Feed.room - 1 { full.settle(()) }
                await feed.send([text(number)])
                written.withLock { $0 += 1 }
            }
        }
        try await full.value()
        for _ in 0..<100 { await Task.yield() }
        #expect(written.withLock { $0 } == Feed.room - 1)
        #expect(await feed.next() == (0..<Feed.room).map(text))
        feed.hurry()
        await writer.value
        #expect(await feed.next()?.count == 200 - Feed.room)
    }

    @Test("a cancelled reader gives up and loses nothing, and a writer without a reader is free")
    func cancelled() async throws {
        let feed = Feed()
        let reader = Task { await feed.next() }
        reader.cancel()
        #expect(await reader.value == nil)
        await feed.send([text(1)])
        await feed.ready()
        #expect(await feed.next() == [text(1)])
        feed.abandon()
        for number in 0..<200 { await feed.send([text(number)]) }
        #expect(await feed.next() == nil)
    }

    @Test("what was sent before the end is read after it")
    func finished() async throws {
        let feed = Feed()
        feed.post([text(1)])
        feed.finish()
        #expect(await feed.next() == [text(1)])
        #expect(await feed.next() == nil)
    }
}
