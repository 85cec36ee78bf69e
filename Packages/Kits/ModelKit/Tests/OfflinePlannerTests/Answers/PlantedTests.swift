import CoreTesting
import OfflinePlanner
import Testing

@Suite("The offline model on random repositories", .timeLimit(.minutes(10)))
struct PlantedTests {
    static let seeds: [UInt64] = [1, 2, 3, 5, 8, 13, 21, 34, 55, UInt64.random(in: 100...1_000_000)]

    @Test("The model lists every planted TODO and FIXME and no other line", arguments: seeds)
    func markers(seed: UInt64) async throws {
        let repository = Repository(seed: seed)
        try await withConversation { chat in
            try repository.write(to: chat.folder)
            let answer = try await chat.ask("Please find the TODOs.")
            let found = places(in: answer)
            #expect(Set(found) == Set(repository.markers.keys), "seed \(seed)")
            #expect(found.count == repository.markers.count, "seed \(seed)")
            if !repository.markers.isEmpty { #expect(answer.has("**\(repository.markers.count) line"), "seed \(seed)") }
        }
    }

    @Test("The model tells the definition of a planted symbol from its uses", arguments: seeds)
    func usages(seed: UInt64) async throws {
        let repository = Repository(seed: seed)
        try await withConversation { chat in
            try repository.write(to: chat.folder)
            let answer = try await chat.ask("Where is `\(repository.symbol)` used?")
            let found = places(in: answer)
            #expect(Set(found) == repository.uses.union([repository.definition]), "seed \(seed)")
            #expect(found.first == repository.definition, "seed \(seed)")
        }
    }

    @Test("The model marks exactly the first TODO and changes nothing else", arguments: seeds)
    func marking(seed: UInt64) async throws {
        let repository = Repository(seed: seed)
        try await withConversation { chat in
            try repository.write(to: chat.folder)
            let answer = try await chat.ask("find the TODOs and mark the first as done")
            var changed: [String] = []
            for (path, lines) in repository.files {
                let now = try chat.text(path).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                #expect(now.count == lines.count, "seed \(seed)")
                for (index, (line, before)) in zip(now, lines).enumerated() where line != before {
                    changed.append("\(path):\(index + 1)")
                    #expect(line.contains("DONE: tidy up"), "seed \(seed)")
                }
            }
            #expect(changed.count == (repository.markers.isEmpty ? 0 : 1), "seed \(seed)")
            #expect(changed.first == places(in: answer).first { repository.markers[$0] != nil }, "seed \(seed)")
        }
    }

    @Test("The model finds one TODO less after each edit, until there is none", arguments: [7, 11] as [UInt64])
    func wearing(seed: UInt64) async throws {
        let repository = Repository(seed: seed)
        try await withConversation { chat in
            try repository.write(to: chat.folder)
            for left in stride(from: repository.markers.count, to: 0, by: -1) {
                let found = places(in: try await chat.ask("list all TODOs"))
                #expect(found.count == left, "seed \(seed)")
                try await chat.ask("mark the last one as done")
            }
            #expect(try await chat.ask("any TODOs left?").has("There is no TODO"), "seed \(seed)")
        }
    }
}
