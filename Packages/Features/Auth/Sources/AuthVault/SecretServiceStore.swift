import CAuthVault
public import Capabilities
import LoopKit

/// Secrets in the desktop's keyring, through the Secret Service and libsecret, which is loaded only here.
///
/// A locked keyring is never taken for an empty one, and what was stored is read back before it counts as stored.
public final class SecretServiceStore: KeptSecrets {
    private let patience: Duration

    /// Nil where there is no session bus or no libsecret; throws `VaultError.Kind.desktop` where both are and the
    /// service does not answer.
    ///
    /// - Parameters:
    ///   - environment: the variables of the program; libsecret itself reads those of the process.
    ///   - patience: how long one call may take, with the dialogue that asks the person to unlock the keyring.
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
            throw VaultError(.desktop, "the desktop's keyring cannot keep '\(name)': the secret holds a zero byte")
        }
        try await perform { call in
            try call.store(secret.withText { $0 }, named: name.text, label: "Martlet: \(name)")
            guard let kept = try Self.find(name, call), kept.equals(secret) else {
                throw VaultError.desktop("it did not keep '\(name)'")
            }
        }
    }

    public func remove(named name: SecretName) async throws {
        try SecretRules.check(name)
        try await perform { call in
            // Only what is unlocked can be removed, and libsecret passes over the rest in silence.
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

    /// Runs a call on a thread of its own, and ends it when the task is cancelled or the time is over.
    private func perform<T: Sendable>(_ body: @escaping @Sendable (DesktopCall) throws -> T) async throws -> T {
        guard let call = DesktopCall() else { throw VaultError.desktop("libsecret cannot be loaded") }
        let patience = patience
        return try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                try await withTaskCancellationHandler {
                    try await onOwnThread { Result { try body(call) } }.get()
                } onCancel: {
                    call.cancel()
                }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            let first = try await group.next() ?? nil
            try Task.checkCancellation()
            guard let result = first else {
                throw VaultError.desktop("it did not answer within \(patience.components.seconds) seconds")
            }
            return result
        }
    }
}

extension VaultError {
    static func desktop(_ reason: String) -> VaultError {
        VaultError(
            .desktop,
            "the desktop's keyring failed: \(PlainText.escape(reason)); use the encrypted file instead, or try again")
    }

    fileprivate static var stillLocked: VaultError {
        VaultError(
            .locked, "the desktop's keyring is locked; unlock it and try again, or use the encrypted file instead")
    }
}

/// One call of libsecret, which another thread may cancel.
@safe
final class DesktopCall: Sendable {
    // Made in init and freed in deinit. Only one thread calls through it, but for `cancel`, which GLib allows anywhere.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// Nil when libsecret is not there.
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

    /// An item of the keyring; without a secret when it is locked or was not asked for.
    struct Item: Sendable {
        let name: String
        let secret: String?
    }

    /// The items of a name, or all. Unlocking may show a dialogue to the person.
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
