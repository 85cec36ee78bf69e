import CAuthVault

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
