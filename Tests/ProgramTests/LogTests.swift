import FileKit
import JSON
import Testing

@Suite("The log of the program", .timeLimit(.minutes(5)))
struct LogTests {
    private func fail(_ words: String..., home: String) async throws -> Program.Run {
        try await Program.martlet.run(["chat", "show", "zzz"] + words, home: home)
    }

    @Test("A file gets a line for each entry, --verbose prints more of them, and the list of errors has the reason")
    func written() async throws {
        try await withHome { home in
            let file = "\(home)/log.ndjson"
            #expect(try await fail("--log-file", file, home: home).code != 0)
            let lines = try String(decoding: Files.read(file, limit: 1 << 20), as: UTF8.self).split(separator: "\n")
            let entries = try lines.map { try JSON(parsing: String($0)) }
            #expect(entries.map { $0["level"] } == ["error", "error"])
            #expect(entries.first?["message"]?.string?.contains("'zzz'") == true)
            #expect(entries.last?["message"] == "chat.show")

            let verbose = try await fail("--verbose", home: home)
            // The reason is printed once, by the command itself.
            #expect(verbose.errors.split(separator: "\n").count { $0.contains("'zzz'") } == 1)
            #expect(verbose.errors.contains(" error chat: chat.show "))
            let program = try await fail("-v", "--json", home: home)
            let last = try #require(program.errors.split(separator: "\n").last { $0.contains(#""type":"log""#) })
            #expect(try JSON(parsing: String(last))["message"] == "chat.show")

            let told = try await Program.martlet.run(["trace", "logs", "--json"], home: home)
            #expect(
                try told.output.json().array?.allSatisfy { $0["level"] == "error" && $0["scope"] == "chat" } == true)
        }
    }

    @Test("A log that cannot be written is told, and the command does its work")
    func unwritable() async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(["chat", "list", "--log-file", "\(home)/none/log"], home: home)
            #expect(run.code == 0 && run.errors.contains("the log is not written: "), "\(run.errors)")
        }
    }
}
