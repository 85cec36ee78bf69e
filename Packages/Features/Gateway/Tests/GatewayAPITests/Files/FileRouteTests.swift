import FileKit
import GatewayTurns
import Glibc
import HTTPClient
import HTTPCore
import JSON
import Testing
import TurnLoop

@Suite("Files of projects", .timeLimit(.minutes(5))) struct FileRouteTests {
    private func withProject(
        _ body: @escaping @Sendable (_ gateway: TestGateway, _ files: String, _ folder: String) async throws -> Void
    ) async throws {
        try await withGateway { gateway in
            let id = try await gateway.makeProject()
            let project = try await gateway.json(.get, "/v1/projects/\(id)")
            try await body(gateway, "/v1/projects/\(id)/files", try #require(project["path"]?.string))
        }
    }

    @Test("A written file is read back byte by byte, and its folders are created")
    func roundTrip() async throws {
        try await withProject { gateway, files, folder in
            let bytes: [UInt8] = [0, 1, 0xFF, 0x0D, 0x0A, 0xC3]
            let made = try await gateway.put("\(files)/deep/er/a%20b.bin", bytes)
            #expect(made.status == .created)
            let facts = try JSON(parsing: made.body)
            #expect(facts["path"] == "deep/er/a b.bin" && facts["size"] == 6 && facts["kind"] == "file")
            let read = try await gateway.send(.get, "\(files)/deep/er/a%20b.bin")
            #expect(read.status == .ok && read.body == bytes && read.headers["ETag"] == facts["etag"]?.string)
            #expect(read.headers["X-Content-Type-Options"] == "nosniff")
            #expect(try Files.read("\(folder)/deep/er/a b.bin", limit: 100) == bytes)
            #expect(try await gateway.put("\(files)/deep/er/a%20b.bin", []).status == .ok)
            let empty = try await gateway.send(.get, "\(files)/deep/er/a%20b.bin")
            #expect(empty.status == .ok && empty.body.isEmpty)
        }
    }

    @Test(
        "Ranges of a file follow RFC 9110",
        arguments: [
            ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
            ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=0-99", 206, "0123456789", "bytes 0-9/10"),
            ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
            ("bytes=3-1", 200, "0123456789", ""), ("bytes=0-1,3-4", 200, "0123456789", ""),
            ("lines=0-1", 200, "0123456789", ""), ("bytes=99999999999999999999-", 416, "", "bytes */10"),
        ])
    func ranges(range: String, status: Int, text: String, told: String) async throws {
        try await withProject { gateway, files, _ in
            _ = try await gateway.put("\(files)/a", Array("0123456789".utf8))
            let answer = try await gateway.send(.get, "\(files)/a", headers: ["Range": range])
            #expect(answer.status.code == status)
            #expect((answer.headers["Content-Range"] ?? "") == told)
            if status != 416 { #expect(answer.text == text) }
        }
    }

    @Test("A file that a rule denies to tools is not listed, found, read or written", arguments: [true, false])
    func denied(isOfProject: Bool) async throws {
        let rules: JSON = [
            ["verdict": "deny", "tool": "fs.read", "arguments": ["/path": "secrets/**"]],
            ["verdict": "deny", "tool": "fs.write", "arguments": ["/path": "lock"]],
            ["verdict": "deny", "tool": "bash.run"],
        ]
        var settings = TurnSettings()
        if !isOfProject { settings.rules = try ApprovalPolicy(json: rules).rules }
        try await withGateway(settings) { gateway in
            let id = try await gateway.makeProject(rules: isOfProject ? rules : [])
            let path = "/v1/projects/\(id)"
            let folder = try #require(try await gateway.json(.get, path)["path"]?.string)
            try Files.makeDirectories("\(folder)/secrets/deep")
            for name in ["secrets/key", "secrets/deep/key", "lock", "open"] {
                try Files.writeAtomically(Array("canary in \(name)\n".utf8), to: "\(folder)/\(name)")
            }
            unsafe symlink("secrets/key", "\(folder)/way")

            let whole = try await gateway.send(.get, "\(path)/files?depth=9")
            #expect(whole.text.contains("\"open\"") && whole.text.contains("\"lock\""), "\(whole.text)")
            #expect(!whole.text.contains("secrets/"), "\(whole.text)")
            let matching = try await gateway.send(.get, "\(path)/files?glob=**/*")
            #expect(matching.text.contains("\"open\"") && !matching.text.contains("secrets/"), "\(matching.text)")
            let hits = try await gateway.send(.get, "\(path)/search?pattern=canary")
            #expect(hits.text.contains("canary in open") && !hits.text.contains("secrets"), "\(hits.text)")

            for name in ["secrets/key", "secrets/deep/key", "./secrets/../secrets/key", "way"] {
                let read = try await gateway.send(.get, "\(path)/files/\(name)")
                #expect(read.status.code == 403 && read.text.contains("a rule of the user"), "\(read.text)")
                let written = try await gateway.put("\(path)/files/\(name)", Array("changed".utf8))
                #expect([400, 403].contains(written.status.code), "\(name): \(written.status) \(written.text)")
            }
            #expect(try await gateway.put("\(path)/files/secrets/none", []).status == .forbidden)
            for query in ["files?path=secrets", "search?pattern=canary&path=secrets/key"] {
                let refused = try await gateway.send(.get, "\(path)/\(query)")
                #expect(refused.status.code == 403 && !refused.text.contains("canary in"), "\(query): \(refused.text)")
            }
            #expect(try await gateway.send(.get, "\(path)/files/lock").text == "canary in lock\n")
            #expect(try await gateway.put("\(path)/files/lock", []).status == .forbidden)
            #expect(try await gateway.put("\(path)/files/open", []).status == .ok)
            for name in ["secrets/key", "secrets/deep/key", "lock"] {
                let bytes = try Files.read("\(folder)/\(name)", limit: 100)
                #expect(String(decoding: bytes, as: UTF8.self) == "canary in \(name)\n")
            }
            #expect(!Files.exists("\(folder)/secrets/none"))
        }
    }

    @Test("A tag shows readers and writers whether a file has changed")
    func tags() async throws {
        try await withProject { gateway, files, _ in
            let first = try await gateway.put("\(files)/a", Array("one".utf8))
            let tag = try #require(try JSON(parsing: first.body)["etag"]?.string)
            #expect(try await gateway.send(.get, "\(files)/a", headers: ["If-None-Match": tag]).status == .notModified)
            let part: HTTPHeaders = ["Range": "bytes=1-", "If-Range": tag]
            #expect(try await gateway.send(.get, "\(files)/a", headers: part).text == "ne")
            #expect(try await gateway.put("\(files)/a", Array("two".utf8), ["If-Match": tag]).status == .ok)
            for headers in [["If-Match": tag], ["If-None-Match": "*"]] as [HTTPHeaders] {
                let refused = try await gateway.put("\(files)/a", Array("three".utf8), headers)
                let error = try JSON(parsing: refused.body)
                #expect(refused.status.code == 412 && error.errorCode == "changed")
            }
            #expect(try await gateway.put("\(files)/none", [], ["If-Match": "*"]).status.code == 412)
            #expect(try await gateway.put("\(files)/none", [], ["If-Match": tag]).status.code == 412)
            #expect(
                try await gateway.put("\(files)/a", [], ["If-Match": tag, "If-None-Match": "*"]).status.code == 412)
            #expect(try await gateway.send(.get, "\(files)/a", headers: part).text == "two")
            #expect(try await gateway.put("\(files)/new", [], ["If-None-Match": "*"]).status == .created)
            #expect(try await gateway.put("\(files)/new", [1], ["If-Match": "*"]).status == .ok)
        }
    }

    @Test("Of several writers with the same tag only one succeeds")
    func race() async throws {
        try await withProject { gateway, files, _ in
            let first = try await gateway.put("\(files)/a", [0])
            let tag = try #require(try JSON(parsing: first.body)["etag"]?.string)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...20 {
                    group.addTask {
                        try await gateway.put("\(files)/a", [UInt8(number)], ["If-Match": tag]).status.code
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 412 } == 19, "\(statuses)")
        }
    }

    @Test("Files are listed as a tree or by a pattern, and searched")
    func looking() async throws {
        try await withProject { gateway, files, folder in
            for (path, text) in [
                ("a.txt", "one\nTwo\n"), ("src/b.swift", "let two = 2\n"), ("src/c.md", "two: three"),
                (".hidden", "two"),
                ("out/d.swift", "two"), (".gitignore", "out/\n"),
            ] {
                #expect(try await gateway.put("\(files)/\(path)", Array(text.utf8)).status == .created)
            }
            unsafe symlink("/etc", "\(folder)/etc")
            func paths(_ query: String) async throws -> [String] {
                let list = try await gateway.json(.get, "\(files)?\(query)")
                return list["data"]?.array?.compactMap { $0["path"]?.string } ?? []
            }
            #expect(try await paths("") == ["a.txt", "etc", "src"])
            #expect(try await paths("depth=2") == ["a.txt", "etc", "src", "src/b.swift", "src/c.md"])
            #expect(try await paths("path=src") == ["src/b.swift", "src/c.md"])
            #expect(
                try await paths("hidden=true&ignored=true") == [".gitignore", ".hidden", "a.txt", "etc", "out", "src"])
            #expect(try await paths("glob=**/*.swift") == ["src/b.swift"])
            #expect(try await paths("glob=**/*.swift&ignored=true") == ["out/d.swift", "src/b.swift"])
            let cut = try await gateway.json(.get, "\(files)?depth=2&limit=2")
            #expect(cut["data"]?.array?.count == 2 && cut["truncated"] == true)
            let link = try await gateway.json(.get, files)["data"]?[1]
            #expect(link?["kind"] == "link")
            #expect(try await gateway.json(.get, "\(files)?path=src")["data"]?[0]?["kind"] == "file")

            let search = files.replacing("/files", with: "/search")
            func hits(_ query: String) async throws -> [String] {
                let list = try await gateway.json(.get, "\(search)?\(query)")
                return list["data"]?.array?.map {
                    "\($0["path"]?.string ?? ""):\($0["line"]?.int ?? 0):\($0["text"]?.string ?? "")"
                } ?? []
            }
            #expect(try await hits("pattern=two") == ["src/b.swift:1:let two = 2", "src/c.md:1:two: three"])
            #expect(try await hits("pattern=%5ETWO&ignore_case=true") == ["a.txt:2:Two", "src/c.md:1:two: three"])
            #expect(try await hits("pattern=two&glob=*.md") == ["src/c.md:1:two: three"])
            #expect(try await hits("pattern=2)&literal=true") == [])
            let few = try await gateway.json(.get, "\(search)?pattern=two&limit=1")
            #expect(few["data"]?.array?.count == 1 && few["truncated"] == true)
            #expect(try await gateway.json(.get, "\(search)?pattern=(", status: 400).errorCode == "pattern")
            _ = try await gateway.json(.get, search, status: 422)
            _ = try await gateway.json(.get, "\(search)?pattern=a&path=none", status: 404)
            _ = try await gateway.json(.get, "\(files)?path=../..", status: 400)
            _ = try await gateway.json(.get, "\(files)?path=/etc", status: 400)
        }
    }

    @Test("A folder, a missing file and a too large file are refused")
    func refused() async throws {
        try await withProject { gateway, files, folder in
            _ = try await gateway.put("\(files)/dir/a", [])
            #expect(try await gateway.json(.get, "\(files)/none", status: 404).errorCode == "not_found")
            #expect(try await gateway.json(.get, "\(files)/dir", status: 400).errorCode == "not_file")
            #expect(try await gateway.json(.get, "\(files)/dir/a/b", status: 400).errorCode == "not_folder")
            #expect(try await gateway.put("\(files)/dir", []).status.code == 400)
            #expect(try await gateway.put("\(files)/.git/hooks/pre-commit", []).status == .forbidden)
            unsafe mkfifo("\(folder)/fifo", 0o600)
            #expect(try await gateway.json(.get, "\(files)/fifo", status: 400).errorCode == "not_file")
            let large = try await gateway.put("\(files)/large", [UInt8](repeating: 0, count: (16 << 20) + 1))
            #expect(large.status == .contentTooLarge)
            _ = try await gateway.json(.get, "/v1/projects/none/files", status: 404)
            unsafe rename(folder, "\(folder)-gone")
            #expect(try await gateway.json(.get, "\(files)/dir/a", status: 409).errorCode == "folder_missing")
        }
    }
}

extension TestGateway {
    func put(_ path: String, _ bytes: [UInt8], _ headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
        var request = try request(.put, path, nil, headers)
        request.headers["Content-Type"] = "application/octet-stream"
        request.body = .bytes(bytes)
        return try await client.send(request)
    }
}
