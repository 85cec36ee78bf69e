import JSON
import Testing

@Suite("A stream", .timeLimit(.minutes(5)))
struct StreamingTests {
    private func run(_ words: [String]) async throws -> Program.Run {
        try await withHome { try await Program.bench.run(["lab", "count"] + words, home: $0) }
    }

    @Test("is a line an event, and the last line is the result", arguments: ["ndjson", "stream-json"])
    func lines(format: String) async throws {
        let run = try await run(["3", "--output-format", format])
        #expect(run.code == 0)
        #expect(
            run.output.lines == [
                #"{"type":"number","number":1}"#, #"{"type":"number","number":2}"#, #"{"type":"number","number":3}"#,
                #"{"type":"result","is_error":false,"result":3}"#,
            ])
        let progress = run.errors.lines.filter { $0.contains(#""type":"progress""#) }
        #expect(progress.count == 3)
    }

    @Test("ends with its result when it fails as well") func failure() async throws {
        let run = try await run(["2", "--fail", "--format", "ndjson"])
        #expect(run.code == 5)
        let last = try #require(run.output.lines.last).json()
        #expect(run.output.lines.count == 3)
        #expect(last["type"] == "result")
        #expect(last["is_error"] == true)
        #expect(last["error"]?["code"] == "lab.failed")
        #expect(try run.errors.lines.last { $0.contains("error") }?.json()["error"]?["code"] == "lab.failed")
    }

    @Test("is text as it comes for people, and said once") func text() async throws {
        let run = try await run(["3"])
        #expect(run.output == "1\n2\n3\n")
        #expect(!run.errors.contains("counting"))
    }

    @Test("is only its result in a format without events") func result() async throws {
        #expect(try await run(["3", "--json"]).output == "3\n")
        #expect(try await run(["3", "--format", "csv"]).output == "value\r\n3\r\n")
    }

    @Test("is quiet when it is told to be") func quiet() async throws {
        let run = try await run(["3", "-q", "--format", "ndjson"])
        #expect(run.output.lines.count == 4)
        #expect(!run.errors.contains("progress"))
    }
}
