import COpenSSL

/// The errors that libcrypto keeps for each thread.
///
/// They are cleared before a call that matters and read right after it, because anything in between would change them.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Takes the oldest error, which names the cause, and forgets the others.
    static func take() -> Entry? {
        let number = ERR_get_error()
        ERR_clear_error()
        return number == 0 ? nil : Entry(number: number)
    }

    /// An error of the library: which one failed, and why.
    struct Entry {
        let number: UInt

        var library: Int32 { Int32((number >> 23) & 0xFF) }
        var reason: Int32 { Int32(number & 0x7F_FFFF) }

        /// The library's own words: "certificate verify failed".
        var words: String {
            // The text is a constant of the library.
            unsafe ERR_reason_error_string(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        }
    }

    /// Takes the oldest error as words for a message.
    static func reason() -> String {
        take()?.words ?? "the library gave no reason"
    }

    /// What a call reported that fails only for want of memory or of an algorithm.
    static func failure(_ action: String) -> CryptographyError {
        CryptographyError(.library, "cannot \(action): \(reason())")
    }
}
