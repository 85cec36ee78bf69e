import Testing

@testable import TerminalKit

struct FrameWriterTests {
    /// A terminal that takes as many bytes as it has room for.
    private final class Sink {
        var room = 0
        var taken: [UInt8] = []
        var kinds: [FrameWriter.Kind] = []

        func write(_ bytes: ArraySlice<UInt8>, _ kind: FrameWriter.Kind) -> FrameWriter.Attempt {
            kinds.append(kind)
            let count = min(room, bytes.count)
            taken += bytes.prefix(count)
            room -= count
            return .took(count)
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Frames that the terminal takes whole follow each other")
    func whole() {
        let sink = Sink()
        sink.room = 100
        var writer = FrameWriter()
        #expect(writer.offer(bytes("one"), write: sink.write) == .written)
        #expect(writer.offer(bytes("two"), write: sink.write) == .written)
        #expect(sink.taken == bytes("onetwo") && !writer.isWaiting)
    }

    @Test("The rest of a frame waits, later ones are refused, and room is reported once")
    func waiting() {
        let sink = Sink()
        sink.room = 2
        var writer = FrameWriter()
        #expect(writer.offer(bytes("one"), write: sink.write) == .waiting)
        #expect(writer.isWaiting)
        #expect(writer.resume(write: sink.write) == .waiting)
        #expect(writer.offer(bytes("two"), write: sink.write) == .refused)
        #expect(writer.offer(bytes("three"), write: sink.write) == .refused)
        sink.room = 100
        #expect(writer.resume(write: sink.write) == .hasRoom)
        #expect(writer.resume(write: sink.write) == .finished)
        #expect(sink.taken == bytes("one"))
    }

    @Test("A frame that nobody wanted to follow ends without a report")
    func finished() {
        let sink = Sink()
        var writer = FrameWriter()
        #expect(writer.offer(bytes("one"), write: sink.write) == .waiting)
        sink.room = 100
        #expect(writer.resume(write: sink.write) == .finished)
    }

    @Test("A frame in the place of one that was cut first ends its last sequence")
    func replacing() {
        let sink = Sink()
        sink.room = 4
        var writer = FrameWriter()
        #expect(writer.offer(bytes("\u{1B}[38;5;2m"), write: sink.write) == .waiting)
        sink.room = 100
        #expect(writer.offer(bytes("all"), replacesWaiting: true, write: sink.write) == .written)
        #expect(sink.taken == bytes("\u{1B}[38\u{18}\u{1B}\\all"))
    }

    @Test("After a frame was dropped, the next one first ends its last sequence")
    func dropped() {
        let sink = Sink()
        var writer = FrameWriter()
        #expect(writer.offer(bytes("one"), write: sink.write) == .waiting)
        #expect(writer.offer(bytes("two"), write: sink.write) == .refused)
        #expect(writer.hasRefused)
        writer.drop()
        #expect(!writer.hasRefused && !writer.isWaiting)
        sink.room = 100
        #expect(writer.offer(bytes("all"), write: sink.write) == .written)
        #expect(writer.offer(bytes("more"), write: sink.write) == .written)
        #expect(sink.taken == bytes("\u{18}\u{1B}\\allmore"))
    }

    @Test("Where the screen is not shown, nothing waits")
    func hidden() {
        let sink = Sink()
        sink.room = 1
        var writer = FrameWriter()
        #expect(writer.offer(bytes("one"), write: sink.write) == .waiting)
        #expect(writer.resume { _, _ in .hidden } == .hidden)
        #expect(!writer.isWaiting)
        #expect(writer.offer(bytes("two")) { _, _ in .gone } == .hidden)
    }

    @Test("Case 33: A synchronised update is known by the beginning of its frame")
    func updates() {
        let sink = Sink()
        sink.room = 100
        var writer = FrameWriter()
        _ = writer.offer(bytes("\u{1B}[?2026hone\u{1B}[?2026l"), write: sink.write)
        _ = writer.offer(bytes("two"), write: sink.write)
        #expect(sink.kinds == [.update, .plain])
    }

    @Test("Case 33: A synchronised update is still known as one when it had to wait")
    func lateUpdate() {
        let sink = Sink()
        var writer = FrameWriter()
        #expect(writer.offer(bytes("\u{1B}[?2026hone\u{1B}[?2026l"), write: sink.write) == .waiting)
        sink.room = 100
        #expect(writer.resume(write: sink.write) == .finished)
        #expect(sink.kinds == [.update, .update])
    }

    @Test("A frame of progress is known as one with each part, also after one that was cut off")
    func progress() {
        let sink = Sink()
        sink.room = 4
        var writer = FrameWriter()
        #expect(writer.offer(bytes("a frame"), write: sink.write) == .waiting)
        #expect(
            writer.offer(TerminalProgress.percent(4).sequence, replacesWaiting: true, write: sink.write) == .waiting)
        sink.room = 100
        #expect(writer.resume(write: sink.write) == .finished)
        #expect(writer.offer(TerminalProgress.none.sequence, write: sink.write) == .written)
        #expect(Set(sink.kinds.dropFirst(2)) == [.progress] && sink.kinds.prefix(2) == [.plain, .plain])
    }
}
