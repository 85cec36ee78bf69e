import FileKit
import Glibc
import HTTPTesting
import ProcessKit
import Testing

@testable import AuthVault

/// A message bus of the test, and on request a real desktop keyring on it, unlocked and empty.
struct DesktopKeyring: Sendable {
    /// The value for `DBUS_SESSION_BUS_ADDRESS`.
    let address: String
    /// The process id of the keyring, or 0.
    let daemon: Int32

    /// Whether the programs are installed: gnome-keyring, dbus-daemon, libglib2.0-bin and libsecret-1-0.
    static let isAvailable =
        ["gnome-keyring-daemon", "dbus-daemon", "dbus-send", "gdbus"].allSatisfy { Files.exists("/usr/bin/\($0)") }
        && DesktopCall() != nil

    static func run(withKeyring: Bool = true, _ body: (DesktopKeyring) async throws -> Void) async throws {
        try await withFolder { folder in
            let launcher = Launcher.standalone
            let address = "unix:path=\(folder)/bus"
            let environment: CommandEnvironment = [
                "PATH": "/usr/bin:/bin", "HOME": folder, "XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data",
                "DBUS_SESSION_BUS_ADDRESS": address,
            ]
            // Without service folders, so that the bus does not start a keyring by itself.
            let configuration = """
                <busconfig><type>session</type><listen>\(address)</listen>
                <policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/>
                </policy></busconfig>
                """
            try Files.writeAtomically(Array(configuration.utf8), to: "\(folder)/bus.conf")
            let bus = Command(
                "dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--print-address=1"],
                environment: environment)
            try await launcher.withChild(bus) { bus in
                try #require(
                    try await bus.output.nextLine() != nil, "\(String(decoding: bus.errorTail, as: UTF8.self))")
                guard withKeyring else { return try await body(DesktopKeyring(address: address, daemon: 0)) }
                var keyring = Command(
                    "gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"],
                    environment: environment)
                keyring.input = .bytes(Array("login".utf8))
                try await launcher.withChild(keyring) { keyring in
                    let wait = Command(
                        "gdbus", ["wait", "--session", "--timeout=20", "org.freedesktop.secrets"],
                        environment: environment)
                    let waited = try await launcher.run(wait, timeout: .seconds(30))
                    try #require(waited.status.isSuccess, "\(String(decoding: keyring.errorTail, as: UTF8.self))")
                    try await body(DesktopKeyring(address: address, daemon: keyring.processID))
                }
            }
        }
    }

    /// Call this in a child process, because libsecret reads the process's variables and connects once.
    static func connect(_ address: String, patience: Duration = .seconds(60)) async throws -> SecretServiceStore? {
        unsafe setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
        return try await SecretServiceStore.connect(
            environment: ["DBUS_SESSION_BUS_ADDRESS": address], patience: patience)
    }

    /// Locks the keyring; there is no user to unlock it again.
    static func lock(_ address: String) throws {
        let status = unsafe system(
            "DBUS_SESSION_BUS_ADDRESS=\(address) dbus-send --session --print-reply --dest=org.freedesktop.secrets "
                + "/org/freedesktop/secrets org.freedesktop.Secret.Service.Lock "
                + "array:objpath:/org/freedesktop/secrets/collection/login >&2")
        try #require(status == 0)
    }
}
