import CoreTesting
import FileKit
import HTTPTesting
import Testing

@Suite("Third-party libraries, unchanged", .timeLimit(.minutes(5))) struct LibraryTests {
    @Test("llm asks, streams and calls a function")
    func llm() async throws {
        try await TemporaryDirectory.run { folder in
            try await expect(
                ["You said: hello", "stream True", #"called You said: weather {"city":"Bern"} ['weather']"#],
                of: "llm_asks.py", folder)
        }
    }
}

/// They need other versions of the vendors' dependencies, and take long to install.
@Suite("Libraries of make test-peers", .enabled(if: isForMore, "run by make test-peers"), .timeLimit(.minutes(5)))
struct MoreLibraryTests {
    @Test("LiteLLM asks, streams, calls tools and understands errors in both dialects")
    func liteLLM() async throws {
        let lines = ["openai", "anthropic"].flatMap {
            [
                "\($0) You said: hello stop 3", "\($0) stream True", #"\#($0) call tool_calls weather {"city":"Bern"}"#,
                "\($0) none NotFoundError", "\($0) test/busy RateLimitError",
            ]
        }
        try await expect(lines, of: "litellm_asks.py")
    }

    @Test("Agents of pydantic-ai ask, stream and use tools in three dialects")
    func pydanticAI() async throws {
        let lines = ["chat", "responses", "messages"].flatMap {
            [
                "\($0) You said: hello", "\($0) stream True",
                #"\#($0) called ['Bern'] You said: weather {"city":"Bern"}"#,
            ]
        }
        try await expect(lines, of: "pydantic_ai_asks.py")
    }

    @Test("LangChain's models ask, stream and use tools in three dialects")
    func langChain() async throws {
        let lines = ["chat", "responses", "messages"].flatMap {
            [
                "\($0) You said: hello 3", "\($0) stream True",
                #"\#($0) called weather {'city': 'Bern'} You said: weather {"city":"Bern"}"#,
            ]
        }
        try await expect(lines, of: "langchain_asks.py")
    }
}

private let isForMore = Environment.snapshot()["MARTLET_TEST_PEERS"] == "more"

/// Runs a program of this package's folder `Peers` against a gateway and checks its output.
private func expect(_ lines: [String], of program: String, _ arguments: String...) async throws {
    let package = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    let runner = "import runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    try await withGateway { gateway in
        let output = try await PythonPeer.output(
            source: runner, ["\(package)/Peers/\(program)", gateway.url, TestGateway.token] + arguments)
        #expect(output.split(separator: "\n").map(String.init) == lines)
    }
}
