import Capabilities
import CoreTesting
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import MCPServers
import ModelKit
import Registry
import Synchronization
import Testing
import TurnLoop

@testable import MCP

/// Calls of the tools of a platform.
@Suite(.timeLimit(.minutes(5)))
struct PlatformCallTests {
    private func call(_ session: TestSession, _ tool: String = "add", _ words: String...) async -> TestResult {
        let words = words.isEmpty && tool == "add" ? ["--a", "2", "--b", "3"] : words
        return await session.attempt(
            "mcp.call", ["server": "sums", "tool": .string(tool), "arguments": .array(words.map { .string($0) })])
    }

    @Test(
        "a server is found at the address as given, at /mcp below it, or in the older way at /sse",
        arguments: Lab.SDK.allCases, [(Lab.Way.http, ""), (.http, "/mcp"), (.sse, ""), (.sse, "/sse")])
    func finds(_ sdk: Lab.SDK, _ place: (way: Lab.Way, path: String)) async throws {
        try await Lab.sums(sdk, place.way) { (origin) async throws in
            let tool = KamiwazaSetup.Tool("1", name: "sums", url: origin + place.path)
            try await Lab.run([tool]) { (bench, _) async throws in
                try await bench.open { (session) async throws in
                    let result = await call(session)
                    #expect(result["text"] == "5", "\(result.failure?.message ?? "")")
                    // Also for a visit, which has a connection of its own.
                    #expect(try await session.perform("mcp.test", ["name": "sums"])["tools"]?.array?.count == 3)
                }
            }
        }
    }

    @Test("addresses are tried in their order, and the one that worked is tried first afterwards")
    func order() async throws {
        try await Lab.sums { (origin) async throws in
            try await Lab.run([.init("1", name: "sums", backend: origin)]) { (bench, platform) async throws in
                try await bench.open { (session) async throws in
                    try await session.perform("mcp.test", ["name": "sums"])
                    let first = platform.requests.filter { $0.path.hasPrefix("/runtime") }
                    let given = first.prefix { $0.path == "/runtime/tools/1" }
                    #expect(!given.isEmpty && given.allSatisfy { $0.method == .post })
                    #expect(first.count > given.count)
                    #expect(first.dropFirst(given.count).allSatisfy { $0.path == "/runtime/tools/1/mcp" })
                    platform.forgetRequests()
                    try await session.perform("mcp.test", ["name": "sums"])
                    let second = platform.requests.filter { $0.path.hasPrefix("/runtime") }
                    #expect(!second.isEmpty && second.allSatisfy { $0.path == "/runtime/tools/1/mcp" })
                }
            }
        }
    }

    @Test("a tool that is nowhere is told with all addresses")
    func nowhere() async throws {
        try await Lab.run([.init("1", name: "sums")]) { (bench, platform) async throws in
            try await bench.open { (session) async throws in
                let failure = await call(session).failure
                let message = failure?.message ?? ""
                #expect(
                    message.contains("sums") && message.contains("/1/mcp") && message.contains("/1/sse"), "\(message)")
                let paths = platform.requests.filter { $0.path.hasPrefix("/runtime") }.map { "\($0.method) \($0.path)" }
                #expect(paths.last?.hasSuffix("/runtime/tools/1/sse") == true, "\(paths)")
                #expect(
                    platform.count(.get, "/runtime/tools/1") == 0 && platform.count(.get, "/runtime/tools/1/mcp") == 0)
            }
        }
    }

    @Test("the session is sent to the platform itself, and to no other server that it names")
    func credential() async throws {
        try await Lab.sums { (origin) async throws in
            let tool = KamiwazaSetup.Tool("1", name: "sums", backend: origin)
            try await Lab.run([tool]) { (bench, platform) async throws in
                try await bench.open { (session) async throws in #expect(await call(session)["text"] == "5") }
                let own = platform.requests.filter { $0.path.hasPrefix("/runtime") }
                #expect(!own.isEmpty && own.allSatisfy { $0.credential == .accessToken })

                var setup = KamiwazaSetup()
                setup.tools = [tool]
                try await KamiwazaServer.run(setup) { (other) async throws in
                    platform.deploy([.init("1", name: "sums", url: "\(other.origin)/runtime/tools/1")])
                    try await bench.perform("mcp.list")
                    let refused = try await bench.failure("mcp.test", ["name": "sums"])
                    #expect(refused?.exit == .denied, "\(refused?.message ?? "")")
                    let seen = other.requests.filter { $0.path.hasPrefix("/runtime") }
                    #expect(!seen.isEmpty && seen.allSatisfy { $0.credential == .none })
                }
            }
        }
    }

    @Test("a session that has ended is renewed once, for the list and for a tool")
    func renews() async throws {
        try await Lab.sums { (origin) async throws in
            try await Lab.run([.init("1", name: "sums", backend: origin)]) { (bench, platform) async throws in
                let spent = bench.environment[LabSession.variable] ?? ""
                platform.endSessions()
                bench.environment[LabSession.variable] = "\(spent) \(try await Lab.token(platform))"
                #expect(try await bench.perform("mcp.list").json[0]?["name"] == "sums")
                platform.forgetRequests()
                try await bench.open { (session) async throws in #expect(await call(session)["text"] == "5") }
                let credentials = platform.requests.filter { $0.path == "/runtime/tools/1/mcp" }.map(\.credential)
                #expect(credentials.first == .spent && credentials.dropFirst().allSatisfy { $0 == .accessToken })
                bench.environment[LabSession.variable] = spent
                let refused = try await bench.failure("mcp.test", ["name": "sums"])
                #expect(refused?.exit == .denied, "\(refused?.message ?? "")")
            }
        }
    }

    @Test("what looks like a variable in a platform's address is not filled in")
    func variables() async throws {
        try await Lab.run { (bench, platform) async throws in
            bench.environment["CANARY"] = "canary"
            for url in ["\(platform.origin)/runtime/${CANARY}", "\(platform.origin)/runtime/$%7BCANARY%7D"] {
                platform.deploy([.init("1", name: "sums", url: url)])
                try await bench.perform("mcp.list")
                _ = await bench.attemptTest("sums")
            }
            #expect(!platform.requests.contains { $0.path.contains("canary") })
        }
    }

    // MARK: Turns

    /// A turn whose model calls one tool and then answers.
    private func turn(_ session: TestSession, _ folder: String, _ tool: String, _ input: JSON) async throws
        -> TurnOutcome
    {
        let place = ToolPlace(folder: folder, isLastTurn: true)
        let sources = try await session.registry.toolSources(at: place) { _ in }
        let loop = TurnLoop(sources: sources, clock: ContinuousClock(), now: { Timestamp.now() }) { _ in
            ApprovalAnswer(isAllowed: true)
        }
        let rounds = Mutex(0)
        let request = ChatRequest(model: "m", messages: [Message(.user, "Add.")])
        return try await loop.run(
            request,
            asking: { _, receive in
                let round = rounds.withLock { rounds in
                    rounds += 1
                    return rounds
                }
                let start = ChatStart(id: "a\(round)", model: "m")
                try await receive([.began(start)])
                let call = ToolCall(id: "c", name: "sums__\(tool)", input: input)
                let message = Message(.assistant, round == 1 ? [.call(call)] : [.text("I carry on.")])
                return ChatAnswer(start: start, message: message, finish: round == 1 ? .calls : .stop)
            },
            emit: { _ in })
    }

    private func firstResult(of outcome: TurnOutcome) -> ToolResult? {
        outcome.messages.flatMap(\.message.parts).lazy
            .compactMap { if case .result(let result) = $0 { result } else { nil } }.first
    }

    @Test("a tool that works, fails, is silent or gone is told to the model, which carries on")
    func turns() async throws {
        try await Lab.run { (bench, platform) async throws in
            try await Lab.sums { (origin) async throws in
                platform.deploy([.init("1", name: "sums", url: origin)])
                let cases: [(String, JSON, Bool, String)] = [
                    ("add", ["a": 2, "b": 3], false, "5"), ("fail", ["reason": "no luck"], true, "fail"),
                    ("wait", [:], true, "300ms"),
                ]
                for (tool, input, isError, words) in cases {
                    if tool == "wait" {
                        try bench.write(
                            settings: Lab.settings(["lab": platform.origin], mcp: ["call-limit": "300ms"]))
                    }
                    try await bench.open { (session) async throws in
                        let outcome = try await turn(session, bench.folder, tool, input)
                        let result = try #require(firstResult(of: outcome))
                        #expect(result.isError == isError && result.content.contains(words), "\(result.content)")
                        #expect(outcome.answer?.message.parts == [.text("I carry on.")] && outcome.calls == 1)
                    }
                }
            }
            // The process has ended, and the platform has not noticed.
            try await bench.open { (session) async throws in
                let outcome = try await turn(session, bench.folder, "add", ["a": 2, "b": 3])
                let result = try #require(firstResult(of: outcome))
                #expect(result.isError && result.content.contains("sums"), "\(result.content)")
                #expect(outcome.answer?.message.parts == [.text("I carry on.")] && outcome.failedCalls == 1)
            }
        }
    }
}

extension TestWorkbench {
    fileprivate func attemptTest(_ name: String) async -> AnyFailure? {
        do { return try await failure("mcp.test", ["name": .string(name)]) } catch { return AnyFailure(error) }
    }
}
