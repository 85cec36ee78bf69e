import CAuthVault
public import Capabilities
import LoopKit

/// Secrets in the desktop keyring, through the Secret Service and libsecret, which is loaded only here.
///
/// A locked keyring is never treated as empty. A stored secret is read back before it counts as stored.
public final class SecretServiceStore: KeptSecrets {
    private let patience: Duration

    /// Nil when there is no session bus or no libsecret. Throws `VaultError.Kind.desktop` when both exist but the
    /// service does not answer.
    ///
    /// - Parameters:
    ///   - environment: the variables of the program. libsecret itself reads those of the process.
    ///   - patience: how long one call may take, including the dialogue that asks the user to unlock the keyring.
    public static func connect(
        environment: [String: String], patience: Duration = .seconds(60)
    ) async throws -> SecretServiceStore? {
        guard let bus = environment["DBUS_SESSION_BUS_ADDRESS"], !bus.isEmpty, DesktopCall() != nil else { return nil }
        let store = SecretServiceStore(patience: patience)
        _ = try await store.names()
        return store
    }

    private init(patience: Duration) {
        self.patience = patience
    }

    public var source: SecretSource { .desktop }

    public func secret(named name: SecretName) async throws -> Secret? {
        try SecretRules.check(name)
        return try await perform { try Self.find(name, $0) }
    }

    public func store(_ secret: Secret, named name: SecretName) async throws {
        try SecretRules.check(name)
        try SecretRules.check(secret, for: name)
        guard secret.withText({ !$0.utf8.contains(0) }) else {
            throw VaultError(.desktop, "the desktop keyring cannot store '\(name)': the secret contains a zero byte")
        }
        try await perform { call in
            try call.store(secret.withText { $0 }, named: name.text, label: "Martlet: \(name)")
            guard let kept = try Self.find(name, call), kept.equals(secret) else {
                throw VaultError.desktop("it did not store '\(name)'")
            }
        }
    }

    public func remove(named name: SecretName) async throws {
        try SecretRules.check(name)
        try await perform { call in
            // Only unlocked items can be removed, and libsecret silently skips the others.
            guard try Self.find(name, call) != nil else { return }
            try call.clear(name.text)
            guard try call.search(name.text, unlocking: false).isEmpty else { throw VaultError.stillLocked }
        }
    }

    public func names() async throws -> [SecretName] {
        try await entries().map(\.name)
    }

    public func entries() async throws -> [SecretEntry] {
        let names = try await perform { Set(try $0.search(unlocking: false).map(\.name)) }
        return names.sorted().map { SecretEntry(name: SecretName($0), changed: nil) }
    }

    private static func find(_ name: SecretName, _ call: DesktopCall) throws(VaultError) -> Secret? {
        let items = try call.search(name.text, unlocking: true)
        if let secret = items.lazy.compactMap(\.secret).first { return Secret(secret) }
        guard items.isEmpty else { throw .stillLocked }
        return nil
    }

    /// Runs a call on its own thread. The call ends when the task is cancelled or the time is over.
    private func perform<T: Sendable>(_ body: @escaping @Sendable (DesktopCall) throws -> T) async throws -> T {
        guard let call = DesktopCall() else { throw VaultError.desktop("libsecret cannot be loaded") }
        let result = try await withTimeLimit(patience, on: ContinuousClock()) {
            try await withTaskCancellationHandler {
                try await onOwnThread { Result { try body(call) } }.get()
            } onCancel: {
                call.cancel()
            }
        }
        try Task.checkCancellation()
        guard let result else {
            throw VaultError.desktop("it did not answer within \(patience.components.seconds) seconds")
        }
        return result
    }
}

/// One call of libsecret, which another thread may cancel.
@safe
final class DesktopCall: Sendable {
    // Created in init and freed in deinit. Only one thread uses it, except for `cancel`, which GLib allows on any
    // thread.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// Nil when libsecret is not available.
    init?() {
        guard let desktop = unsafe authvault_desktop_load(), let call = unsafe authvault_call_new(desktop) else {
            return nil
        }
        unsafe handle = call
    }

    deinit { unsafe authvault_call_free(handle) }

    func cancel() {
        unsafe authvault_call_cancel(handle)
    }

    func store(_ secret: String, named name: String, label: String) throws(VaultError) {
        try check(unsafe authvault_store(handle, name, label, secret))
    }

    func clear(_ name: String) throws(VaultError) {
        try check(unsafe authvault_clear(handle, name))
    }

    /// An item of the keyring. The secret is nil when the item is locked or the secret was not requested.
    struct Item: Sendable {
        let name: String
        let secret: String?
    }

    /// The items of a name, or all items. Unlocking may show a dialogue to the user.
    func search(_ name: String? = nil, unlocking: Bool) throws(VaultError) -> [Item] {
        var items: [Item] = []
        let found = unsafe withUnsafeMutablePointer(to: &items) { items in
            unsafe authvault_search(handle, name, unlocking, items) { context, name, secret in
                let item = unsafe Item(name: String(cString: name), secret: secret.map { unsafe String(cString: $0) })
                unsafe context.assumingMemoryBound(to: [Item].self).pointee.append(item)
            }
        }
        try check(found)
        return items
    }

    private func check(_ succeeded: Bool) throws(VaultError) {
        guard !succeeded else { return }
        let reason = unsafe authvault_call_error(handle).map { unsafe String(cString: $0) } ?? "it gave no reason"
        throw .desktop(reason)
    }
}
