import FileKit
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Escapes from a project's folder", .timeLimit(.minutes(5))) struct EscapeTests {
    /// Paths that lead, or seem to lead, to `secret` beside the project's folder.
    private static var paths: [String] {
        let climbs = [
            "..", "%2e%2e", ".%2e", "%2E.", "%252e%252e", "..%00", "..%2f", "..%5c", "..;", "%c0%ae%c0%ae", "..%ff",
        ]
        let starts = ["", "in/", "in/../", "./", "in/./", "%2f", "/", "in//", "link/", "in%2f"]
        let ends = ["secret", "projects/../secret"]
        var paths = starts.flatMap { start in climbs.flatMap { climb in ends.map { "\(start)\(climb)/\($0)" } } }
        paths += [
            "out/secret", "in/out/secret", "file-link", "chain", "loop/x", "/etc/passwd", "//etc/passwd",
            "%2fetc%2fpasswd",
            "proc/self/root/etc/passwd", "%00", "a%00b", "file:///etc/passwd", "~/.ssh/id", "C:%5csecret",
        ]
        return paths
    }

    /// Sends paths unchanged, which normal clients do not, and prints violations.
    private static let program = """
        import re, socket, sys
        port, token, base = int(sys.argv[1].split(":")[-1]), sys.argv[2], sys.argv[3]
        asked = 0
        def ask(method, path, body=""):
            global asked
            asked += 1
            head = f"{method} {base}{path} HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer {token}\\r\\n"
            head += f"Content-Length: {len(body)}\\r\\nConnection: close\\r\\n\\r\\n{body}"
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(head.encode())
                text = b""
                while piece := client.recv(65536): text += piece
            status = int(text.split()[1])
            if status >= 500 or b"the secret" in text or b"root:" in text: print(method, path, text)
        for line in sys.stdin.read().split("\\n"):
            ask("GET", line)
            if line.startswith("files/"): ask("PUT", line, "overwritten")
        print("asked", asked)
        """

    @Test("No form of a path reads or writes outside the folder or causes a server error")
    func escapes() async throws {
        try await withGateway { gateway in
            let id = try await gateway.makeProject()
            let folder = try #require(try await gateway.json(.get, "/v1/projects/\(id)")["path"]?.string)
            let secret = "\(gateway.folder)/secret"
            try Files.writeAtomically(Array("the secret".utf8), to: secret)
            try Files.writeAtomically(Array("the secret".utf8), to: "\(gateway.folder)/projects/secret")
            _ = try await gateway.put("/v1/projects/\(id)/files/in/a", [])
            for (target, name) in [
                (gateway.folder, "out"), ("../../..", "in/out"), (secret, "file-link"), ("chain-2", "chain"),
                (secret, "chain-2"), ("loop", "loop"), ("in", "link"),
            ] {
                unsafe symlink(target, "\(folder)/\(name)")
            }
            #expect(Self.paths.count > 200)
            let places = Self.paths.flatMap { path in
                let query = path.replacing("%", with: "%25")
                return [
                    "files/\(path)", "files?path=\(query)", "search?pattern=secret&path=\(query)",
                    "files?glob=\(query)/*",
                ]
            }
            let output = try await PythonPeer.output(
                source: Self.program, [gateway.url, TestGateway.token, "/v1/projects/\(id)/"],
                input: Array(places.joined(separator: "\n").utf8))
            #expect(output == "asked \(places.count + Self.paths.count)\n")
            #expect(try Files.read(secret, limit: 100) == Array("the secret".utf8))
            #expect(try Files.read("\(gateway.folder)/projects/secret", limit: 100) == Array("the secret".utf8))
            #expect(
                try Files.list(gateway.folder).map(\.name).filter { !$0.hasPrefix("gateway.db") }.sorted() == [
                    "projects", "secret",
                ])
        }
    }

    @Test("File names with shell syntax are only names")
    func names() async throws {
        try await withGateway { gateway in
            let id = try await gateway.makeProject()
            let names = [
                "$(touch pwned)", "`touch pwned`", "-rf", "a;touch pwned", "a|b", "a\nb", "a'b\"c", "*", "~",
                "ä\u{1F4A9}",
            ]
            for name in names {
                let escaped = name.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                let path = "/v1/projects/\(id)/files/\(escaped)"
                #expect(try await gateway.put(path, Array(name.utf8)).status == .created)
                #expect(try await gateway.send(.get, path).text == name)
            }
            let list = try await gateway.json(.get, "/v1/projects/\(id)/files")["data"]?.array
            #expect(Set(list?.compactMap { $0["path"]?.string } ?? []) == Set(names))
        }
    }
}
