import FileKit
import ProcessKit
import Testing

/// Signing in to an MCP server with the program as it is installed, on a terminal.
@Suite("Signing in to MCP servers", .timeLimit(.minutes(3)))
struct MCPSignInTests {
    private struct NoPort: Error { let said: String }

    /// Runs a server of the reference SDK, whose sign-in server grants everything at once, and gives its address.
    private static func server(_ body: (_ address: String) async throws -> Void) async throws {
        var command = Command(
            "\(Readme.root)/.build/mcp-modern/bin/python",
            ["-W", "ignore", "\(Readme.root)/Packages/Features/Auth/Peers/protected.py"],
            environment: ["PATH": "/usr/bin:/bin"])
        command.errors = .tail(limit: 4096)
        command.endsWithParent = true
        try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine() else {
                throw NoPort(said: String(decoding: child.errorTail, as: UTF8.self))
            }
            try await body("http://127.0.0.1:\(String(decoding: line, as: UTF8.self))/mcp")
        }
    }

    @Test("After login calls need no person, and after logout there is nothing to call with")
    func login() async throws {
        try await Self.server { address in
            try await ChatHome.with(answer: "") { home in
                let added = try await home.martlet("mcp", "add", "guarded", address, "--no-test")
                #expect(added.code == 0, "\(added.errors)")
                let words = ["mcp", "call", "guarded", "add", "--a", "40", "--b", "2"]
                func call() async throws -> Program.Run {
                    try await Program.martlet.run(words, home: home.path, adding: home.variables)
                }
                let before = try await call()
                #expect(before.code == 3 && before.errors.contains("wants you to sign in"), "\(before.errors)")
                var variables = home.variables
                // It follows the redirects, as a browser does.
                variables["BROWSER"] = "curl -sSLo /dev/null"
                try await Conversation.with(
                    .martlet, "$M mcp login guarded; echo code $?", home: home.path, adding: variables
                ) { talk in
                    try await talk.wait(for: "wants you to sign in")
                    try await talk.wait(for: "[y/N]")
                    try await talk.press("y\n")
                    try await talk.wait(for: "New passphrase for the vault with your keys")
                    try await talk.press("\n")
                    try await talk.wait(for: "code 0")
                    #expect(talk.shown.contains("Adds two numbers"))
                }
                let called = try await call()
                #expect(called.code == 0 && called.output == "42\n", "\(called.errors)")
                #expect(try await home.martlet("mcp", "logout", "guarded").code == 0)
                let after = try await call()
                #expect(after.code == 3 && after.errors.contains("wants you to sign in"), "\(after.errors)")
            }
        }
    }
}
