import CoreTesting
import Testing

@testable import SandboxKit

@Suite("Command output")
struct OutputTests {
    @Test("UTF-8 in pieces is decoded to the same text")
    func pieces() {
        var random = SeededGenerator(seed: 31)
        for _ in 0..<500 {
            let text = String((0..<20).compactMap { _ in "aé€🎈\n日".randomElement(using: &random) })
            var rest = Array(text.utf8)
            var (pieces, told) = (UTF8Pieces(), "")
            while !rest.isEmpty {
                let count = Int.random(in: 1...3, using: &random)
                told += pieces.text(Array(rest.prefix(count)))
                rest.removeFirst(min(count, rest.count))
            }
            #expect(told + pieces.rest() == text)
        }
    }

    @Test("An excerpt of long output counts the omitted bytes and keeps whole lines")
    func excerpt() {
        var excerpt = OutputExcerpt()
        let line = Array("0123456\n".utf8)
        for _ in 0..<100_000 { excerpt.add(line) }
        let text = excerpt.text
        let parts = text.split(separator: "[… ")
        #expect(parts.count == 2 && parts[0].utf8.count % 8 == 0)
        let left = Int(parts[1].prefix { $0.isNumber }) ?? 0
        let note = "[… \(left) bytes omitted …]\n"
        #expect(left + text.utf8.count - note.utf8.count == 800_000)
    }
}
