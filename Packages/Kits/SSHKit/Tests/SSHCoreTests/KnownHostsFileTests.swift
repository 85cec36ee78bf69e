import CoreTesting
import FileKit
import Glibc
import Testing

@testable import SSHCore

struct KnownHostsFileTests {
    @Test("An added key is known to ssh as well, and everything else in the file stays")
    func adds() async throws {
        let ssh = try OpenSSH()
        try await TemporaryDirectory.run { folder in
            let server = try await TestServer(in: folder, ssh)
            let file = "\(folder)/new/.ssh/known_hosts"
            let files = KnownHosts(user: [file, "\(folder)/second"], global: [])
            let (plain, port) = (
                KnownHostName(host: "Web.example.com"), KnownHostName(host: "web.example.com", port: 2222)
            )
            try files.add(server.key, of: port, hashed: true)
            #expect(try Files.info(file).mode == 0o600)
            #expect(try Files.info("\(folder)/new/.ssh").mode == 0o700)
            let hashed = String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self)
            #expect(hashed.hasPrefix("|1|") && !hashed.contains("2222") && hashed.hasSuffix("= \(server.key.text)\n"))
            try files.add(server.key, of: plain, hashed: false)
            let both = String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self)
            #expect(both == "\(hashed)web.example.com \(server.key.text)\n")
            for (name, line) in [(port, 1), (plain, 2)] {
                #expect(
                    try files.entries(for: name).verdict(on: server.key) == .known(SSHFilePlace(file: file, line: line))
                )
                let found = try await KnownHostsTests.found(
                    ssh.run([KnownHostsTests.keygen(name.description, file)])[0])
                #expect(found == ["\(line)  ED25519 \(server.key.fingerprint)"])
            }
        }
    }

    @Test("A line is added after one without an end, through a link, and by many at once")
    func addsBesideOthers() async throws {
        try await TemporaryDirectory.run { folder in
            let key = try #require(HostKey.named("B"))
            let (file, link) = ("\(folder)/file", "\(folder)/link")
            let before = "# mine\r\n  odd line without an end"
            try write(["file": before], into: folder)
            try #require(unsafe symlink("file", link) == 0 && chmod(file, 0o640) == 0)
            let files = KnownHosts(user: [link], global: [])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try files.add(key, of: KnownHostName(host: "host\(number)"), hashed: false) }
                }
                try await group.waitForAll()
            }
            let lines = try Files.read(file, limit: 1 << 20).split(separator: 10).map {
                String(decoding: $0, as: UTF8.self)
            }
            #expect(lines.prefix(2).joined(separator: "\n") == before)
            #expect(lines.dropFirst(2).sorted() == (0..<20).map { "host\($0) \(key.text)" }.sorted())
            #expect(try Files.info(link, followLinks: false).kind == .symbolicLink)
            #expect(try Files.info(file).mode == 0o640)
        }
    }

    @Test("Nothing is added under a name with a meaning, without a file, or where none can be")
    func refusesToAdd() throws {
        try TemporaryDirectory.runNow { folder in
            let key = try #require(HostKey.named("B"))
            let file = "\(folder)/file"
            let files = KnownHosts(user: [file], global: [])
            for host in ["a b", "a,b", "*.b", "!a", "#a", "[a]", "a\nb", "|a", ""] {
                #expect(
                    failure { () throws(SSHError) in try files.add(key, of: KnownHostName(host: host), hashed: false) }?
                        .kind == .knownHosts)
            }
            #expect(!Files.exists(file))
            let name = KnownHostName(host: "a")
            #expect(
                failure { () throws(SSHError) in
                    try KnownHosts(user: [], global: [file]).add(key, of: name, hashed: false)
                }?.kind == .knownHosts)
            #expect(
                failure { () throws(SSHError) in
                    try KnownHosts(user: [folder], global: []).add(key, of: name, hashed: false)
                }?.kind == .knownHosts)
            try files.add(key, of: name, hashed: false)
            #expect(try files.entries(for: name).verdict(on: key).isAccepted)
            // What is known is not written again, and what is revoked never.
            let before = try Files.mark(file)
            try files.add(key, of: name, hashed: true)
            #expect(try Files.mark(file) == before)
            try write(["file": "@revoked * \(key.text)"], into: folder)
            #expect(
                failure { () throws(SSHError) in try files.add(key, of: name, hashed: false) }?.message
                    == "the key of a cannot be added: \(file):1 revokes it")
        }
    }

    @Test("Ten megabytes are read in pieces, with the last line")
    func readsLargeFiles() throws {
        try TemporaryDirectory.runNow { folder in
            let key = try #require(HostKey.named("B"))
            let file = "\(folder)/large"
            let hashed = "|1|JUNeD6Yb6RJI+DWwaReIQ1vvxL8=|aDTB2ugjVo8g46QvfjtAQdT2ifo= \(key.text)\n"
            let plain = "other.example.com,*.example.org \(key.text)\n"
            let long = "long.example.com \(key.text) " + String(repeating: "c", count: 100_000) + "\n"
            let tooLong = "web.example.com " + String(repeating: "x", count: (1 << 20) + 1) + "\n"
            var bytes: [UInt8] = []
            for (text, count) in [(hashed, 4_000), (plain, 20_000), (long, 70), (tooLong, 1)] {
                for _ in 0..<count { bytes += text.utf8 }
            }
            bytes += "web.example.com \(key.text)".utf8
            #expect(bytes.count > 10 << 20)
            try Files.writeAtomically(bytes, to: file)
            var read: Result<KnownHostEntries, any Error>?
            let seconds = threadSeconds {
                let files = KnownHosts(user: [file], global: [])
                read = Result { try files.entries(for: KnownHostName(host: "web.example.com")) }
            }
            // It takes a tenth of that without optimisation.
            #expect(seconds < 4)
            let entries = try #require(read).get()
            #expect(entries.verdict(on: key) == .known(SSHFilePlace(file: file, line: 24_072)))
            #expect(entries.problems.map(\.place.line) == [24_071])
        }
    }

    @Test("A file that is missing is empty, and one that cannot be read is told")
    func readsWhatIsThere() throws {
        try TemporaryDirectory.runNow { folder in
            let key = try #require(HostKey.named("B"))
            try #require(unsafe mkfifo("\(folder)/fifo", 0o600) == 0)
            try write(["known": "web \(key.text)\n", "bad": "web ssh-ed25519 AAAA\n"], into: folder)
            let files = [
                "\(folder)/missing", "/dev/null", "\(folder)/fifo", folder, "\(folder)/bad", "\(folder)/known",
            ]
            let entries = try KnownHosts(user: files, global: []).entries(for: KnownHostName(host: "web"))
            #expect(entries.verdict(on: key) == .known(SSHFilePlace(file: "\(folder)/known", line: 1)))
            #expect(
                entries.problems.map(\.place) == [
                    SSHFilePlace(file: "\(folder)/fifo", line: 0), SSHFilePlace(file: folder, line: 0),
                    SSHFilePlace(file: "\(folder)/bad", line: 1),
                ])
            let many = String(repeating: "web \(key.text)\n", count: 1_001)
            try write(["many": many], into: folder)
            let known = KnownHosts(user: ["\(folder)/many"], global: [])
            #expect(
                failure { () throws(SSHError) in try known.entries(for: KnownHostName(host: "web")) }?.kind == .tooLarge
            )
        }
    }

    @Test("A handshake prefers the types of known keys")
    func ordersAlgorithms() throws {
        let offered = ["ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512"]
        func ordered(_ text: String) throws -> [String] {
            var reader = KnownHostsReader("x", for: KnownHostName(host: "web"))
            try reader.read(Array(TestKeys(own: "").filled(text).replacing("web.example.com", with: "web").utf8))
            try reader.finish()
            let entries = KnownHostEntries(name: KnownHostName(host: "web"), lines: reader.lines, problems: [])
            #expect(entries.authority?.line == (text.contains("@cert") ? 1 : nil))
            return entries.ordered(offered)
        }
        #expect(try ordered("") == offered)
        #expect(try ordered("web {B}\nweb {C}\n") == offered)
        #expect(try ordered("web {C}\n") == ["ecdsa-sha2-nistp256", offered[0], offered[1], offered[3]])
        #expect(
            try ordered("web {F}\n@revoked web {C}\nweb {C}\n") == ["rsa-sha2-512", offered[0], offered[1], offered[2]])
        #expect(
            try ordered("@cert-authority web {B}\nweb {F}\n") == [offered[0], "rsa-sha2-512", offered[1], offered[2]])
    }
}
