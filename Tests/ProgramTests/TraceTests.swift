import FileKit
import JSON
import ProcessKit
import Testing

@Suite("Traces of the program", .timeLimit(.minutes(5)))
struct TraceTests {
    private static let (trace, outer) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
    private static let given = ["TRACEPARENT": "00-\(trace)-\(outer)-01", "OLLAMA_HOST": "http://127.0.0.1:1"]

    /// The spans of the given trace, of which each is below another one, or below that of whoever started the command.
    private func spans(
        _ martlet: (String...) async throws -> Program.Run, _ location: SourceLocation = #_sourceLocation
    ) async throws -> [JSON] {
        let shown = try await martlet("trace", "show", Self.trace, "--json")
        #expect(shown.code == 0, "\(shown.errors)", sourceLocation: location)
        let spans = try shown.output.json().array ?? []
        let ids = Set(spans.compactMap { $0["span"]?.string } + [Self.outer])
        for span in spans {
            #expect(ids.contains(span["parent"]?.string ?? ""), "\(span)", sourceLocation: location)
        }
        return spans
    }

    private func names(_ spans: [JSON]) -> [String] {
        spans.compactMap { $0["name"]?.string.map { String($0.drop { $0 == " " }) } }
    }

    @Test("A question, the gateway that answers it, its model and its tools are one trace without a gap")
    func connected() async throws {
        try await GatewayHome.with { home in
            let folder = "\(home.path)/project"
            try write("def greet():\n    # TODO: be kind\n    return 'helo'\n", to: "\(folder)/greet.py")
            let added = try await home.martlet("gateway", "project", "add", folder, "--json")
            let id = try #require(try added.output.json()["id"]?.string)
            try await home.serve { gateway in
                var variables = Self.given
                variables["GATEWAY_BASE_URL"] = gateway.address
                variables["GATEWAY_API_KEY"] = GatewayHome.token
                let asked = try await home.martlet(
                    "ask", "--model", "gateway", "--project", id, "find the TODOs", adding: variables)
                #expect(asked.code == 0, "\(asked.errors)")
                // The answer is the second message of the history.
                let about = try await home.martlet("trace", "list", "--about", "message:2", "--json")
                #expect(try about.output.json().array?.map { $0["trace"] } == [.string(Self.trace)])
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            let names = names(
                try await spans { (words: String...) in
                    try await Program.martlet.run(words, home: home.path, adding: home.variables)
                })
            #expect(names.first == "chat.send", "\(names)")
            for start in ["POST", "POST /v1/", "gateway.turn", "gateway.model", "execute_tool "] {
                #expect(names.contains { $0.hasPrefix(start) }, "\(start) in \(names)")
            }
        }
    }

    @Test(
        "A bundle with a gateway, a model, a tool and a program is one trace, also where only the failure of a step keeps it",
        arguments: ["01", "00"])
    func bundle(flags: String) async throws {
        try await GatewayHome.with { home in
            let folder = "\(home.path)/project"
            try write("def greet():\n    # TODO: be kind\n    return 'helo'\n", to: "\(folder)/greet.py")
            let added = try await home.martlet("gateway", "project", "add", folder, "--json")
            let id = try #require(try added.output.json()["id"]?.string)
            try write(
                """
                name: whole
                permissions: {effects: writes, actions: [chat.send], paths: ['\(folder)'], programs: [env]}
                steps:
                  - {id: ask, action: chat.send, with: {message: find the TODOs, model: gateway, project: \(id), no-save: true}}
                  - {id: program, action: shell.run, with: {program: env, folder: '\(folder)'}}
                  - {id: broken, action: run.expect, with: {that: false}, continue-on-error: true}
                outputs: {seen: "${{ steps.program.result.output }}"}
                """, to: "\(home.path)/whole.yaml")
            var seen = ""
            try await home.serve { gateway in
                let run = try await home.martlet(
                    "run", "whole.yaml", "--json",
                    adding: [
                        "TRACEPARENT": "00-\(Self.trace)-\(Self.outer)-\(flags)", "OLLAMA_HOST": "http://127.0.0.1:1",
                        "GATEWAY_BASE_URL": gateway.address, "GATEWAY_API_KEY": GatewayHome.token,
                    ])
                #expect(run.code == 0, "\(run.output)\(run.errors)")
                seen = try run.output.json()["outputs"]?["seen"]?.string ?? ""
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            let spans = try await spans { (words: String...) in
                try await Program.martlet.run(words, home: home.path, adding: home.variables)
            }
            let names = names(spans)
            // The gateway, in whose part of an unsampled trace nothing fails, keeps nothing of it.
            let there = flags == "01" ? ["POST /v1/", "gateway.turn", "gateway.model", "execute_tool "] : []
            for start in ["run.start", "RUN whole", "step ask", "chat.send", "POST", "step program", "env"] + there {
                #expect(names.contains { $0.hasPrefix(start) }, "\(start) in \(names)")
            }
            let program = spans.first { $0["name"]?.string?.hasSuffix(" env") == true }?["span"]?.string ?? "none"
            #expect(seen.contains("TRACEPARENT=00-\(Self.trace)-\(program)-\(flags)"), "\(seen)")
        }
    }

    @Test("What only prints something leaves no trace, and neither does what reads traces")
    func silent() async throws {
        try await RunnerHome.with { home in
            for words in [["version"], ["help"], ["features"], ["completion", "bash"], ["trace", "list"]] {
                #expect(try await Program.martlet.run(words, home: home.path, adding: home.variables).code == 0)
            }
            #expect(!Files.exists("\(home.top)/martlet/state/traces"))
            let listed = try await home.martlet("trace", "list", "--json")
            #expect(listed.output == "[]\n" && listed.errors.contains("nothing was recorded"))
        }
    }

    @Test("Where nothing is sampled, what fails is recorded all the same, and nothing else")
    func unsampled() async throws {
        try await RunnerHome.with { home in
            let sample = ["MARTLET_TRACE_SAMPLE": "0"]
            #expect(try await home.martlet("config", "get", "trace.sample", adding: sample).output.contains("0"))
            #expect(try await home.martlet("access", "show", adding: sample).code == 0)
            #expect(try await home.martlet("run", "none.yaml", adding: sample).code != 0)
            let listed = try await home.martlet("trace", "list", "--json")
            #expect(try listed.output.json().array?.compactMap { $0["name"]?.string } == ["run.start"])
        }
    }
}
