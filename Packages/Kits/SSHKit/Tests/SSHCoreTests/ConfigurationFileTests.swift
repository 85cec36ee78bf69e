import CoreTesting
import FileKit
import Glibc
import Testing

@testable import SSHCore

struct ConfigurationFileTests {
    private static func account(_ home: String) throws -> SSHAccount {
        var account = try SSHAccount.current(environment: [:])
        account.home = home
        return account
    }

    @Test("The user's file comes before the system's, and each may be missing")
    func order() throws {
        try TemporaryDirectory.runNow { folder in
            try Files.makeDirectories("\(folder)/.ssh")
            try Files.makeDirectories("\(folder)/etc")
            let (account, system) = (try Self.account(folder), "\(folder)/etc/ssh_config")
            func settings() throws -> SSHSettings {
                try SSHConfig(of: account, system: system).settings(for: SSHAddress("web"))
            }
            #expect(try settings().port == 22)
            try write(
                [
                    "etc/ssh_config": "Include more\nUser system\nPort 2\nIdentityFile /key\n",
                    "etc/more": "Compression yes\n",
                ], into: folder)
            #expect(try settings().port == 2)
            try write(
                [
                    ".ssh/config": "Host other\nUser no\nHost web\nUser me\nInclude more\nIdentityFile /key\nHost no\n",
                    ".ssh/more": "IdentitiesOnly yes\n",
                ], into: folder)
            let both = try settings()
            #expect((both.user, both.port, both.compression, both.identitiesOnly) == ("me", 2, true, true))
            // ssh keeps the same file of both.
            #expect(both.identityFiles == ["/key", "/key"])
            try write(["etc/ssh_config": "Include ~/x\n"], into: folder)
            #expect(
                failure { () throws(SSHError) in
                    try SSHConfig(of: account, system: system).settings(for: SSHAddress("a"))
                }?
                .message == "\(system) line 1: bad include path ~/x.")
        }
    }

    @Test(
        "A file that others can write is refused as ssh refuses it",
        arguments: [0o600, 0o644, 0o664, 0o602, 0o620, 0o666])
    func permissions(mode: UInt32) async throws {
        let ssh = try OpenSSH()
        try await TemporaryDirectory.run { folder in
            try write(["config": "Include \(folder)/more\n", "more": "Port 7\n"], into: folder)
            try #require(unsafe chmod("\(folder)/more", mode) == 0)
            let theirs = try await ssh.run([["ssh", "-G", "-F", "\(folder)/config", "web"]])[0]
            let error = failure { () throws(SSHError) in try SSHConfig(file: "\(folder)/config", of: ssh.account) }
            #expect((error == nil) == (theirs.isSuccess), "\(theirs.text)")
            if let error { #expect(error.message.contains("bad owner or permissions on \(folder)/more")) }
            // The user's own file is checked in the same way.
            try Files.makeDirectories("\(folder)/.ssh")
            try write([".ssh/config": "Port 7\n"], into: folder)
            try #require(unsafe chmod("\(folder)/.ssh/config", mode) == 0)
            var account = ssh.account
            account.home = folder
            let own = failure { () throws(SSHError) in try SSHConfig(of: account, system: "/dev/null") }
            #expect((own == nil) == (error == nil))
        }
    }

    @Test("Settings beyond the limits are refused by name, and what is no file is empty or refused")
    func limits() throws {
        try TemporaryDirectory.runNow { folder in
            let account = try Self.account(folder)
            func refusal(_ name: String) -> SSHError? {
                failure { () throws(SSHError) in try SSHConfig(file: "\(folder)/\(name)", of: account) }
            }
            try #require(unsafe mkfifo("\(folder)/fifo", 0o600) == 0)
            try write(
                [
                    "long": String(repeating: "Host a\n", count: 50_001),
                    "large": String(repeating: "#", count: (4 << 20) + 1),
                    "many": "Include \(folder)/self-[0-9]\n", "link": "Include \(folder)/fifo\n",
                    "fine": "Include \(folder)\n",
                ], into: folder)
            for number in 0..<8 { try write(["self-\(number)": "Include \(folder)/x\n"], into: folder) }
            #expect(refusal("long")?.kind == .tooLarge && refusal("large")?.kind == .tooLarge)
            #expect(refusal("missing")?.kind == .configuration)
            #expect(refusal("link")?.kind == .configuration)
            #expect(refusal("fine") == nil && refusal("many") == nil)
            var loader = ConfigLoader(account)
            loader.limits.files = 8
            #expect(
                failure { () throws(SSHError) in
                    try loader.load("\(folder)/many", isUsers: true, isChecked: false)
                }?.kind == .tooLarge)
            // No pattern takes long, whatever it is matched with.
            let pattern = String(repeating: "*a", count: 400) + "b"
            #expect(!HostPattern.matches(String(repeating: "a", count: 255), pattern))
        }
    }
}
