import FileKit
import JSON
import ProcessKit
import Testing

@Suite("curl", .timeLimit(.minutes(5))) struct CurlTests {
    private func curl(_ arguments: String...) async throws -> String {
        let command = Command(
            "curl", ["-sS", "--max-time", "30"] + arguments, environment: .inheriting(Environment.snapshot()))
        let result = try await Launcher.standalone.run(command, timeout: .seconds(40))
        try #require(result.status == .exited(0), "\(String(decoding: result.errors, as: UTF8.self))")
        return String(decoding: result.output, as: UTF8.self)
    }

    @Test("curl streams a completion, with a key in either header")
    func streams() async throws {
        try await withGateway { gateway in
            for header in ["Authorization: Bearer \(TestGateway.token)", "x-api-key: \(TestGateway.token)"] {
                let text = try await curl(
                    "-N", "-H", header, "-H", "Content-Type: application/json", "-d",
                    asking("hello", "test/echo", ["stream": true]).text(), "\(gateway.url)/v1/chat/completions")
                #expect(text.contains("\"content\":\"You said: hello\"") && text.hasSuffix("data: [DONE]\n\n"))
            }
        }
    }

    @Test("HEAD finds a file, and an unknown path is named in the error")
    func heads() async throws {
        try await withGateway { gateway in
            let head = try await curl("-I", "\(gateway.url)/health")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            let lost = try await curl("-H", "Authorization: Bearer \(TestGateway.token)", "\(gateway.url)/v2/models")
            #expect(try JSON(parsing: lost).errorCode == "route_not_found")
        }
    }
}
