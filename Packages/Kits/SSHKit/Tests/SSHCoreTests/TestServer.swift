import FileKit
import Glibc
import Testing

@testable import SSHCore

/// A server that is started for each connection, with a key of its own, and listens nowhere.
struct TestServer: Sendable {
    /// What ssh connects through.
    let command: String
    let key: HostKey

    init(in folder: String, _ ssh: OpenSSH) async throws {
        let path = "\(folder)/host-key"
        let made = try await ssh.run([["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path]])
        try #require(made[0].isSuccess, "\(made[0].text)")
        let fields = try Files.read("\(path).pub", limit: 1 << 10).split(separator: 32)
        key = try #require(HostKey(type: fields[0], text: fields[1]))
        var command = "/usr/sbin/sshd -i -f /dev/null -h \(path) -o UsePAM=no -o PidFile=none"
        // As an administrator it needs a folder of the system, which is there only while it is a service.
        if getuid() == 0 {
            command = "setpriv --reuid=65534 --regid=65534 --clear-groups \(command)"
            try #require(unsafe chown(path, 65_534, 65_534) == 0 && chmod(folder, 0o755) == 0)
        }
        self.command = command
    }
}

extension HostKey {
    /// The key that a letter stands for.
    static func named(_ letter: String) -> HostKey? {
        let fields = Array(TestKeys(own: "")[letter].utf8).split(separator: 32)
        return HostKey(type: fields[0], text: fields[1])
    }
}
