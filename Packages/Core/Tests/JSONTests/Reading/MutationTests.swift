import CoreTesting
import JSON
import Testing

@Suite("Damaged JSON", .timeLimit(.minutes(5)))
struct MutationTests {
    @Test("All readers agree on a damaged text, and none crashes")
    func mutations() throws {
        let seed = SeededGenerator.seed(for: "mutations")
        var random = RandomJSON(seed: seed)
        let end = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < end {
            let text = mutate(Array(random.value().text().utf8), &random.generator)
            let comment: Comment = "seed \(seed): \(text)"
            let strict = Result { try JSON(parsing: text) }
            let stream = Result { try JSON(parsing: text, reading: .stream) }
            let json5 = Result { try JSON(parsing: text, reading: .json5) }
            let pulled = Result { try JSONPullReader.read(text) { try $0.value() } }
            let skipped = Result { try JSONPullReader.read(text) { try $0.skip() } }
            if let value = try? strict.get() {
                #expect(try stream.get() == value, comment)
                #expect(try json5.get() == value, comment)
            }
            if let value = try? stream.get() {
                #expect(try pulled.get() == value, comment)
                #expect(throws: Never.self, comment) { try skipped.get() }
                #expect(try JSON(parsing: value.text()) == value, comment)
            } else {
                #expect(throws: JSONError.self, comment) { try pulled.get() }
                #expect(throws: JSONError.self, comment) { try skipped.get() }
            }
            try place(of: strict, in: text, comment)
        }
    }

    /// Checks that an error's position is inside the text.
    private func place(of result: Result<JSON, any Error>, in text: [UInt8], _ comment: Comment) throws {
        guard case .failure(let failure) = result else { return }
        let error = try #require(failure as? JSONError, comment)
        #expect(0...text.count ~= error.offset && error.line >= 1 && error.column >= 1, comment)
    }

    private func mutate(_ text: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var text = text
        let tokens = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "\\u", "\\ud83d", "-", "0", "e", "null", "\u{FEFF}", "/*",
        ]
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0...text.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: text.insert(contentsOf: generator.pick(tokens).utf8, at: place)
            case 1 where place < text.count: text[place] = UInt8.random(in: 0...255, using: &generator)
            case 2 where place < text.count: text.remove(at: place)
            default: text.removeSubrange(place..<min(text.count, place + 3))
            }
        }
        return text
    }
}
