import JSON
public import SSHCore

/// A way to run commands on a host that was verified, and that has accepted the user.
public protocol SSHLink: AnyObject, Sendable {
    /// The settings of the host.
    var settings: SSHSettings { get }
    /// Why the system's ssh is used, in words. Nil if it is not.
    var reason: String? { get }
    /// Runs a command and waits for its end. One piece is received at a time; those of each stream come in their order.
    ///
    /// Throws `.channelRefused` if the host allows no further command now, and `.disconnected` if the connection ends; the
    /// command may have run then, and is not repeated.
    func run(
        _ command: SSHCommand, input: SSHInput, receive: @escaping @Sendable (SSHPiece) async throws -> Void
    ) async throws -> SSHExit
    /// Connects from the host to another address, and passes bytes in both directions until both have ended.
    ///
    /// - Parameter receive: gets what comes, and nil at its end.
    func stream(
        to destination: SSHDestination, input: SSHInput, receive: @escaping @Sendable ([UInt8]?) async throws -> Void
    ) async throws
    /// Ends it and everything that runs on it.
    func close() async
}

extension SSHConnection: SSHLink {
    public nonisolated var reason: String? { nil }
}

/// Connects by libssh2, or by the system's ssh where only that can.
public enum SSHHost {
    /// Connects to a host, verifies its key, and only then signs in.
    ///
    /// Throws as `SSHConnection.connect` does. `.needsSystem` means that the system's ssh cannot be used.
    public static func connect(
        to settings: SSHSettings, with configuration: SSHConfiguration
    ) async throws -> any SSHLink {
        do {
            return try await SSHConnection.connect(to: settings, with: configuration)
        } catch let error as SSHError where error.kind == .needsSystem {
            return try await SystemSSH.connect(to: settings, with: configuration, because: reason(error))
        }
    }

    /// The key that a host has now. Throws as `SSHConnection.hostKey` does.
    public static func hostKey(
        of settings: SSHSettings, with configuration: SSHConfiguration
    ) async throws -> PresentedHostKey {
        do {
            return try await SSHConnection.hostKey(of: settings, with: configuration)
        } catch let error as SSHError where error.kind == .needsSystem {
            return try await SystemSSH.hostKey(of: settings, with: configuration, because: reason(error))
        }
    }

    private static func reason(_ error: SSHError) -> String { error.details["reason"]?.string ?? error.message }
}
